// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/v1/items": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * A page of items in the order of their ids
         * @description The Link header leads to the other pages. A page past the end is empty.
         */
        get: operations["listItems"];
        put?: never;
        /**
         * Create an item in status Doing
         * @description The response has the id of the item.
         */
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
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * How many items there are and how many of them are finished
         * @description Both numbers are those of one moment.
         */
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
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * One item
         * @description A 404 means that there is no such item, or not any more.
         */
        get: operations["readItem"];
        /**
         * Change the title, the status or both
         * @description What is null, empty or, for the title, blank counts as not sent.
         */
        put: operations["updateItem"];
        post?: never;
        /**
         * Remove an item for good
         * @description No other item gets its id.
         */
        delete: operations["deleteItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Message: {
            /**
             * @description A sentence for people.
             * @example Not found
             */
            message: string;
        };
        StorageError: {
            /** @example Database error */
            message: string;
            error: {
                /**
                 * @description A SQLSTATE or the name of a system error.
                 * @example 57P03
                 */
                code: string;
            };
        };
        /**
         * @example {
         *       "id": 1
         *     }
         */
        CreatedItem: {
            /**
             * Format: int64
             * @description Assigned by the service, increasing.
             * @example 1
             */
            id: number;
        };
        /**
         * @example {
         *       "title": "Buy milk"
         *     }
         */
        CreateItem: {
            /**
             * @description Not blank; at most 150 characters (Unicode code points).
             * @example Buy milk
             */
            title: string;
        };
        /**
         * @example {
         *       "id": 1,
         *       "title": "Buy milk",
         *       "status": "Doing",
         *       "created_at": "2026-11-20T18:30:00.000Z",
         *       "updated_at": "2026-11-20T18:30:00.000Z"
         *     }
         */
        Item: {
            /**
             * Format: int64
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
        /**
         * @example {
         *       "finished": 12,
         *       "total": 42
         *     }
         */
        ItemSummary: {
            finished: number;
            total: number;
        };
        /**
         * @example {
         *       "status": "Finished"
         *     }
         */
        UpdateItem: {
            /**
             * @description Not blank; at most 150 characters (Unicode code points).
             * @example Buy milk
             */
            title?: string;
            /** @enum {string} */
            status?: "Doing" | "Finished";
        };
    };
    responses: {
        /** @description The client has the current version: its entity tag is in If-None-Match. */
        NotModified: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                etag: components["headers"]["ETag"];
                "cache-control": components["headers"]["CacheControl"];
                vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request is not valid. The message says why. */
        BadRequest: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description There is no such record. */
        NotFound: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The request has not arrived in time: its headers in 5 s, its body in 10 s. */
        RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The record has none of the entity tags in If-Match. Nothing has been changed. */
        PreconditionFailed: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The body is larger than 1 MiB. */
        ContentTooLarge: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The body has another media type or encoding than the service reads. */
        UnsupportedMediaType: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The URL and the headers are longer than 16 KiB together. */
        HeaderFieldsTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The service or its database has failed. */
        InternalServerError: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["StorageError"];
            };
        };
        /** @description The service is overloaded and has done nothing. The same request may succeed in a moment. */
        ServiceUnavailable: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                "retry-after": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
    };
    parameters: {
        /**
         * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
         * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
         */
        RequestId: string;
        /**
         * @description Entity tags of the versions that the client has: the response is a 304 if one of them is current.
         * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
         */
        IfNoneMatch: string;
        /**
         * @description Entity tag of the version that may be changed, or *: for another one the response is a 412.
         * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
         */
        IfMatch: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Id of the request in the log: the one of the request, if it has any.
         * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
         */
        RequestId: string;
        /**
         * @description Seconds after which to try again.
         * @example 1
         */
        RetryAfter: number;
        /**
         * @description Entity tag of this version. A long list has a weak one, or none.
         * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
         */
        ETag: string;
        /**
         * @description no-cache with an entity tag, else no-store.
         * @example no-cache
         */
        CacheControl: "no-cache" | "no-store";
        /**
         * @description Compression of a long response, as Accept-Encoding requests it.
         * @example gzip
         */
        ContentEncoding: "zstd" | "gzip" | "br";
        /**
         * @description Headers of the request that a cache must compare.
         * @example accept-encoding
         */
        Vary: string;
        /**
         * @description URL of the new record, relative to that of the request.
         * @example items/1
         */
        Location: string;
    };
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
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description Entity tags of the versions that the client has: the response is a 304 if one of them is current.
                 * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
                 */
                "if-none-match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The items of the page. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    etag: components["headers"]["ETag"];
                    "cache-control": components["headers"]["CacheControl"];
                    vary: components["headers"]["Vary"];
                    "content-encoding": components["headers"]["ContentEncoding"];
                    /** @description URLs of the first, prev, next and last page (RFC 8288), as far as there are such pages. */
                    link?: string;
                    /** @description Records on all pages together. */
                    "x-total-count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Item"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            408: components["responses"]["RequestTimeout"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
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
                "application/json": components["schemas"]["CreateItem"];
            };
        };
        responses: {
            /** @description The item has been created. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedItem"];
                };
            };
            400: components["responses"]["BadRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description The Idempotency-Key was used with another body. */
            422: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    summariseItems: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description Entity tags of the versions that the client has: the response is a 304 if one of them is current.
                 * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
                 */
                "if-none-match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers of items. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    etag: components["headers"]["ETag"];
                    "cache-control": components["headers"]["CacheControl"];
                    vary: components["headers"]["Vary"];
                    "content-encoding": components["headers"]["ContentEncoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemSummary"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            408: components["responses"]["RequestTimeout"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description Entity tags of the versions that the client has: the response is a 304 if one of them is current.
                 * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
                 */
                "if-none-match"?: components["parameters"]["IfNoneMatch"];
            };
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
            /** @description The item. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    etag: components["headers"]["ETag"];
                    "cache-control": components["headers"]["CacheControl"];
                    vary: components["headers"]["Vary"];
                    "content-encoding": components["headers"]["ContentEncoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Item"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updateItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description Entity tag of the version that may be changed, or *: for another one the response is a 412.
                 * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
                 */
                "if-match"?: components["parameters"]["IfMatch"];
            };
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
                "application/json": components["schemas"]["UpdateItem"];
            };
        };
        responses: {
            /** @description The item has been changed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Item updated successfully"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteItem: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Id of the request in the log: printable ASCII. The service makes one in place of any other.
                 * @example 0b0c5b5e-8a4f-4a37-9d6a-0b6f2a0f9c55
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description Entity tag of the version that may be changed, or *: for another one the response is a 412.
                 * @example "Gq2LJXRIaNbFMwZpJ4VTEMmrDIQ"
                 */
                "if-match"?: components["parameters"]["IfMatch"];
            };
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
            /** @description The item has been removed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Item deleted successfully"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
}
