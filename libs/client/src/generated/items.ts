// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/v1/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of items in the order of their ids */
        get: operations["listItems"];
        put?: never;
        /** Create an item in status Doing */
        post: operations["createItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/items/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many items there are and how many of them are finished */
        get: operations["summariseItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/items/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One item */
        get: operations["readItem"];
        /**
         * Change the title, the status or both
         * @description What is null, empty or, for the title, blank counts as not sent.
         */
        put: operations["updateItem"];
        post?: never;
        /** Remove an item for good */
        delete: operations["deleteItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: never;
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listItems: {
        parameters: {
            query?: {
                /** @description Number of the page, counted from 1. */
                page?: number;
                /** @description Records per page. Not clamped: a large page is streamed. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description URLs of the first, prev, next and last page (RFC 8288), as far as there are such pages. */
                    link?: string;
                    /** @description Records on all pages together. */
                    "x-total-count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Assigned by the service, increasing.
                         * @example 1
                         */
                        id: number;
                        /** @example Buy milk */
                        title: string;
                        /** @enum {string} */
                        status: "Doing" | "Finished";
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC, milliseconds.
                         * @example 2026-11-20T18:30:00.000Z
                         */
                        created_at: string;
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC, milliseconds.
                         * @example 2026-11-20T18:30:00.000Z
                         */
                        updated_at: string;
                    }[];
                };
            };
            /** @description The client has this version: its entity tag is in If-None-Match. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The database failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        error: {
                            /** @description A SQLSTATE or the name of a system error. */
                            code: string;
                        };
                    };
                };
            };
            /** @description More is asked for than can be done. */
            503: {
                headers: {
                    /** @description Seconds after which to try again. */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
        };
    };
    createItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters, new for each record. Sent again with the same body within 24 hours, it creates nothing and gets the first response again.
                 * @example 8e03978e-40d5-43e8-bc93-6894a57f9324
                 */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Not blank; at most 150 characters (Unicode code points).
                     * @example Buy milk
                     */
                    title: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Assigned by the service, increasing.
                         * @example 1
                         */
                        id: number;
                    };
                };
            };
            /** @description What was sent is not valid; the message says what. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The body is of another media type. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The Idempotency-Key was used with another body. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The database failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        error: {
                            /** @description A SQLSTATE or the name of a system error. */
                            code: string;
                        };
                    };
                };
            };
            /** @description More is asked for than can be done. */
            503: {
                headers: {
                    /** @description Seconds after which to try again. */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
        };
    };
    summariseItems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        finished: number;
                        total: number;
                    };
                };
            };
            /** @description The client has this version: its entity tag is in If-None-Match. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The database failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        error: {
                            /** @description A SQLSTATE or the name of a system error. */
                            code: string;
                        };
                    };
                };
            };
            /** @description More is asked for than can be done. */
            503: {
                headers: {
                    /** @description Seconds after which to try again. */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
        };
    };
    readItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Decimal digits.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Assigned by the service, increasing.
                         * @example 1
                         */
                        id: number;
                        /** @example Buy milk */
                        title: string;
                        /** @enum {string} */
                        status: "Doing" | "Finished";
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC, milliseconds.
                         * @example 2026-11-20T18:30:00.000Z
                         */
                        created_at: string;
                        /**
                         * Format: date-time
                         * @description ISO 8601, UTC, milliseconds.
                         * @example 2026-11-20T18:30:00.000Z
                         */
                        updated_at: string;
                    };
                };
            };
            /** @description The client has this version: its entity tag is in If-None-Match. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What was sent is not valid; the message says what. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The database failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        error: {
                            /** @description A SQLSTATE or the name of a system error. */
                            code: string;
                        };
                    };
                };
            };
            /** @description More is asked for than can be done. */
            503: {
                headers: {
                    /** @description Seconds after which to try again. */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
        };
    };
    updateItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Decimal digits.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Not blank; at most 150 characters (Unicode code points).
                     * @example Buy milk
                     */
                    title?: string;
                    /** @enum {string} */
                    status?: "Doing" | "Finished";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description What was sent is not valid; the message says what. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The record has none of the entity tags in If-Match. Nothing has been changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The body is of another media type. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The database failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        error: {
                            /** @description A SQLSTATE or the name of a system error. */
                            code: string;
                        };
                    };
                };
            };
            /** @description More is asked for than can be done. */
            503: {
                headers: {
                    /** @description Seconds after which to try again. */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
        };
    };
    deleteItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Decimal digits.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description What was sent is not valid; the message says what. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description There is no such record. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The record has none of the entity tags in If-Match. Nothing has been changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The body is larger than 1 MiB. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The body is of another media type. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
            /** @description The database failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        error: {
                            /** @description A SQLSTATE or the name of a system error. */
                            code: string;
                        };
                    };
                };
            };
            /** @description More is asked for than can be done. */
            503: {
                headers: {
                    /** @description Seconds after which to try again. */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                    };
                };
            };
        };
    };
}
