import { expect } from '@jest/globals';
import type { JsonResponse } from './send-json.ts';

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<JsonResponse>;

/** A service to which requests are sent that it must refuse. */
export interface RefusingService {
  service: () => { url: string; request: Send };
  /** All rows, which a refused request must not change. */
  stored: () => Promise<unknown[]>;
}

/** Makes a function that sends a request and expects a 4xx with a message, and that no row has changed. */
export function refusals({ service, stored }: RefusingService): Send {
  return async (...args) => {
    const before = await stored();
    const response = await service().request(...args);
    expect(response.body).toEqual({ message: expect.any(String) });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(await stored()).toEqual(before);
    return response;
  };
}
