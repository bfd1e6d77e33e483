import { useState } from 'preact/hooks';
import { Loading, Page } from '../components/page.tsx';
import { TodoForm } from '../components/todo-form.tsx';
import { changeOf, outboxOpened } from '../data/outbox.ts';
import { useLocation } from '../data/router.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useWayBack } from '../hooks/use-way-back.ts';

export function New() {
  const again = useLocation().query.get('again') ?? '';
  return <NewTodo key={again} again={again} />;
}

/** @param again key of a change that the service has refused */
function NewTodo({ again }: { again: string }) {
  const leave = useWayBack(/^\/todos$/, '/todos');
  const [isOpened, setOpened] = useState(!again);
  useLoad(() => outboxOpened.then(() => setOpened(true)));
  const stuck = isOpened ? changeOf(again) : undefined;
  return (
    <Page title="New todo" heading="New todo" focusOn="textarea">
      {isOpened ? (
        <TodoForm
          draftKey={`new${again}`}
          initial={{ description: '' }}
          stuck={stuck}
          cancel="/todos"
          onLeave={() => leave()}
        />
      ) : (
        <Loading />
      )}
    </Page>
  );
}
