import { connection } from '../data/api.ts';
import { formatCount, shortened } from '../data/format.ts';
import { outbox, update, waiting, type Change } from '../data/outbox.ts';
import { useLocation } from '../data/router.ts';
import { isOnItsWay, send } from '../data/sender.ts';

/** Changes that are listed by name; the others are counted. */
const MOST_LISTED = 20;

/** Says above each page whether the service is there, and how many changes are unsent or refused. */
export function Unsent() {
  const { isOnline, isKept: isOld } = connection.use();
  const { waiting: count, stuck, trouble, isKept } = outbox.use();
  const why = isOnline ? (trouble ?? (isOld ? 'The server cannot be reached.' : undefined)) : 'You are offline.';
  const isUnsafe = !isKept && count > 0;
  const changes = `${count === 1 ? '1 change is' : `${formatCount(count)} changes are`} not sent yet`;
  return (
    <>
      <div role="status">
        {(why || isUnsafe) && (
          <div class="card line banner">
            <p>
              {why} {why && (isOld || !isOnline) && 'What is shown may be out of date.'}{' '}
              {!isOnline && count === 0 && 'What you change is sent when you are back online.'}
              {count > 0 && (
                <>
                  <b>{changes}.</b>{' '}
                  {isKept
                    ? `This browser keeps ${count === 1 ? 'it' : 'them'}${isOnline ? ', and tries again.' : ' until you are back online.'}`
                    : 'This browser stores nothing: leave the page open until then.'}
                </>
              )}
            </p>
            {count > 0 && isOnline && (
              <button type="button" onClick={() => void send()}>
                Try again
              </button>
            )}
            {count > 0 && <List />}
          </div>
        )}
      </div>
      <div role="alert">
        {stuck.map((change) => (
          <Stuck key={change.key} change={change} />
        ))}
      </div>
    </>
  );
}

function List() {
  const changes = [...waiting.single.values(), ...waiting.batch.values()];
  return (
    <details>
      <summary>Which?</summary>
      <ul>
        {changes.slice(0, MOST_LISTED).map((change) => (
          <li key={change.key}>
            {kindOf(change)}: <bdi>{shortened(change.mine.description)}</bdi>{' '}
            {!change.base && change.sentAt === undefined && (
              <button type="button" onClick={() => isOnItsWay(change.key) || void update([], [change.key])}>
                Discard
              </button>
            )}
          </li>
        ))}
      </ul>
      {changes.length > MOST_LISTED && <p>… and {formatCount(changes.length - MOST_LISTED)} more.</p>}
    </details>
  );
}

function kindOf({ base, mine }: Change) {
  if (!base) return 'New';
  if (base.description !== mine.description) return 'Text';
  return mine.isCompleted ? 'Done' : 'Open again';
}

/** A change that a person has to decide about: its text may be nowhere else. */
function Stuck({ change }: { change: Change }) {
  const { url } = useLocation();
  const { key, base, mine, problem } = change;
  const form = base ? `/todos/edit/${mine.id}` : `/todos/new?again=${key}`;
  // The form itself says so.
  if (url === form) return null;
  return (
    <div class="card line failure">
      <p>
        “<bdi>{mine.description}</bdi>” is not saved. {problem!.message}
      </p>
      <span>
        <a class="button quiet" href={form}>
          Open the form
        </a>{' '}
        <button type="button" onClick={() => void update([], [key])}>
          Discard
        </button>
      </span>
    </div>
  );
}
