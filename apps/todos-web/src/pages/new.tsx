import { useLocation } from 'preact-iso/router';
import { notify } from '../notices.tsx';
import { Page } from '../page.tsx';
import { TodoForm } from '../todo-form.tsx';
import { createTodo } from '../todos.ts';

export function New() {
  const { route } = useLocation();
  return (
    <Page title="New todo" heading="New todo" focusOn="textarea">
      <TodoForm
        initial={{ description: '' }}
        cancel="/todos"
        onSave={async ({ description }) => {
          await createTodo(description);
          notify({ kind: 'saved', text: 'Saved.' });
          route('/todos');
        }}
      />
    </Page>
  );
}
