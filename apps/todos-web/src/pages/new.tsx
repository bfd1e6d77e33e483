import { useLocation } from 'preact-iso/router';
import { Page } from '../page.tsx';
import { TodoForm } from '../todo-form.tsx';
import { createTodo } from '../todos.ts';

export function New() {
  const { route } = useLocation();
  return (
    <Page title="New todo" heading="New todo" focusOn="textarea">
      <TodoForm
        draftKey="new"
        initial={{ description: '' }}
        cancel="/todos"
        onSave={({ description }, requestKey) => createTodo(description, requestKey)}
        onSaved={() => route('/todos', true)}
      />
    </Page>
  );
}
