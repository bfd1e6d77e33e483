import { Page } from '../components/page.tsx';

export function NotFound() {
  return (
    <Page title="Not found" heading="There is no page here">
      <p class="lead">The address may have been mistyped, or the page has moved.</p>
      <WaysOut />
    </Page>
  );
}

export function TodoNotFound() {
  return (
    <Page title="Not found" heading="There is no such todo">
      <p class="lead">No todo has the number in this address.</p>
      <WaysOut />
    </Page>
  );
}

function WaysOut() {
  return (
    <p class="actions">
      <a class="button" href="/todos">
        See all todos
      </a>
      <a class="button quiet" href="/todos/new">
        New todo
      </a>
    </p>
  );
}
