import { Page } from '../components/page.tsx';

/** @param isTodo whether a todo is missing, rather than a page */
export function NotFound({ isTodo = false }) {
  return (
    <Page title="Not found" heading={isTodo ? 'There is no such todo' : 'There is no page here'}>
      {!isTodo && <p>The address may be mistyped.</p>}
      <p class="line actions">
        <a class="button" href="/todos">
          See all todos
        </a>
        <a class="button quiet" href="/todos/new">
          New todo
        </a>
      </p>
    </Page>
  );
}
