import { Loading, Page } from '../components/page.tsx';
import { TodoForm } from '../components/todo-form.tsx';
import { changeOf, outbox } from '../data/outbox.ts';
import { useLocation } from '../data/router.ts';
import { useWayBack } from '../hooks/use-way-back.ts';

export function New() {
  const leave = useWayBack(/^\/todos$/, '/todos');
  const { isOpened } = outbox.use();
  // Key of a change that the service has refused.
  const again = useLocation().query.get('again') ?? '';
  return (
    <Page title="New todo" heading="New todo">
      {isOpened || !again ? (
        <TodoForm
          key={again}
          draftKey={`new${again}`}
          initial={{ description: '' }}
          stuck={changeOf(again)}
          cancel="/todos"
          onLeave={() => leave()}
        />
      ) : (
        <Loading />
      )}
    </Page>
  );
}
