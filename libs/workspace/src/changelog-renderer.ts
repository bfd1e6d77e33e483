import nx from 'nx/release/changelog-renderer';

/**
 * Renders a release in the CHANGELOG.md of its project, for `nx release`. Updated dependencies are left out, because services use
 * the client in their tests alone.
 */
export default class ChangelogRenderer extends nx.default {
  protected override hasDependencyBumps() {
    return false;
  }

  /** Otherwise, major versions have a heading of another level. */
  protected override renderVersionTitle() {
    return super.renderVersionTitle().replace(/^#+/, '##');
  }
}
