// Loaded before a service that the local stack starts: when the launcher is gone, however it ended, the pipe on
// standard input is closed, and the service stops as it would on SIGTERM.
process.stdin.resume().on('end', () => process.kill(process.pid, 'SIGTERM'));
