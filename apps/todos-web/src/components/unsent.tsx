import { connection } from '../data/api.ts';
import { discard } from '../data/changes.ts';
import { formatCount, shortened } from '../data/format.ts';
import { outbox, type Change } from '../data/outbox.ts';
import { useLocation } from '../data/router.ts';
import { send } from '../data/sender.ts';
import { isSentHere } from '../data/tabs.ts';

/** Changes that are listed by name; the others are counted. */
const MOST_LISTED = 20;

const changesAre = (count: number) => (count === 1 ? '1 change is' : `${formatCount(count)} changes are`);

/** Says above each page whether the service is there, and which changes are unsent or refused, and why. */
export function Unsent() {
  const { url } = useLocation();
  const { stuck } = outbox.use();
  // A form says so itself.
  const refused = stuck.filter((change) => url !== formOf(change));
  return (
    <div role="status">
      <Waiting hasData={!url.startsWith('/todos/new')} />
      {refused.length > 0 && <Refused changes={refused} />}
    </div>
  );
}

function Waiting({ hasData }: { hasData: boolean }) {
  const { isOnline, ...connected } = connection.use();
  const whyKept = hasData ? connected.whyKept : undefined;
  const { waiting, trouble, isKept } = outbox.use();
  const count = waiting.length;
  const isElsewhere = !waiting.every(isSentHere);
  const why = isOnline ? (trouble ?? whyKept) : 'You are offline.';
  const isUnsafe = !isKept && count > 0;
  if (!why && !isUnsafe && !isElsewhere) return null;
  return (
    <div class={why || isUnsafe ? 'card line banner' : 'card line banner waiting'}>
      <p>
        {why ?? (isElsewhere && 'Another tab is sending.')}{' '}
        {(whyKept ?? !isOnline) && 'What is shown may be out of date.'}{' '}
        {count > 0 && (
          <>
            <b>{changesAre(count)} not sent yet.</b>{' '}
            {isKept
              ? `This browser keeps ${count === 1 ? 'it' : 'them'}${isOnline ? ', and tries again.' : ' until you are back online.'}`
              : 'This browser stores nothing: leave the page open until then.'}
          </>
        )}
      </p>
      {isOnline && waiting.some(isSentHere) && (
        <button type="button" class="button quiet" onClick={() => void send()}>
          Try again
        </button>
      )}
      {count > 0 && <Which changes={waiting} />}
    </div>
  );
}

/** Changes that a person has to decide about: their texts may be nowhere else. */
function Refused({ changes }: { changes: Change[] }) {
  const [{ mine, problem }] = changes as [Change];
  const isSame = changes.every((change) => change.problem!.message === problem!.message);
  return (
    <div class="card line banner">
      <p>
        {changes.length === 1 ? (
          <>
            “<bdi translate={false}>{shortened(mine.description)}</bdi>” is
          </>
        ) : (
          changesAre(changes.length)
        )}{' '}
        not saved. {isSame && problem!.message}
      </p>
      {changes.length === 1 ? <Answers change={changes[0]!} /> : <Which changes={changes} isReasonGiven={!isSame} />}
    </div>
  );
}

function Which({ changes, isReasonGiven = false }: { changes: Change[]; isReasonGiven?: boolean }) {
  return (
    <details>
      <summary>Which?</summary>
      <ul>
        {changes.slice(0, MOST_LISTED).map((change) => (
          <li key={change.key} class="line">
            <span>
              {kindOf(change)}: <bdi translate={false}>{shortened(change.mine.description)}</bdi>{' '}
              {isReasonGiven && change.problem!.message}
            </span>
            <Answers change={change} />
          </li>
        ))}
      </ul>
      {changes.length > MOST_LISTED && <p>… and {formatCount(changes.length - MOST_LISTED)} more.</p>}
    </details>
  );
}

/** What can be done about a change: open its form when it was refused, and drop it unless it may have arrived. */
function Answers({ change }: { change: Change }) {
  const { state, base, sentAt } = change;
  const isStuck = state === 'stuck';
  return (
    <span class="line">
      {isStuck && (
        <a class="button quiet" href={formOf(change)}>
          Open the form
        </a>
      )}
      {(isStuck || (!base && sentAt === undefined)) && (
        <button type="button" class="button quiet" onClick={() => discard(change)}>
          Discard
        </button>
      )}
    </span>
  );
}

const formOf = ({ key, base, mine }: Change) => (base ? `/todos/edit/${mine.id}` : `/todos/new?again=${key}`);

function kindOf({ base, mine }: Change) {
  if (!base) return 'New';
  if (base.description !== mine.description) return 'Text';
  return mine.isCompleted ? 'Done' : 'Open again';
}
