import { useLocation } from 'preact-iso/router';
import { Page } from '../components/page.tsx';
import { TodoForm } from '../components/todo-form.tsx';
import { createTodo } from '../data/todos.ts';

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
