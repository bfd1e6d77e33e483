/** Sends a request again while it gets 503, which has done nothing: on a busy machine, a wait for a connection becomes one. */
export async function served<Response extends { status: number }>(send: () => Promise<Response>) {
  let response = await send();
  while (response.status === 503) response = await send();
  return response;
}
