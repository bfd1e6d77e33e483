import { Loading, Page } from '../components/page.tsx';
import { TodoForm } from '../components/todo-form.tsx';
import { changeOf } from '../data/outbox.ts';
import { useLocation } from '../data/router.ts';
import { outboxOpened } from '../data/todos.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useWayBack } from '../hooks/use-way-back.ts';

export function New() {
  const leave = useWayBack(/^\/todos$/, '/todos');
  const { isLoading } = useLoad(() => outboxOpened);
  // Key of a change that the service has refused.
  const again = useLocation().query.get('again') ?? '';
  return (
    <Page title="New todo" heading="New todo">
      {isLoading && again ? (
        <Loading />
      ) : (
        <TodoForm
          key={again}
          draftKey={`new${again}`}
          initial={{ id: 0, description: '', isCompleted: 0 }}
          stuck={changeOf(again)}
          cancel="/todos"
          onLeave={() => leave()}
        />
      )}
    </Page>
  );
}
