// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/api/todos": {
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
         * All todos in the order of their ids
         * @description Open todos and completed ones, without pages.
         */
        get: operations["listTodos"];
        /**
         * Replace description and completion of the todo whose id is in the body
         * @description All three fields must be sent.
         */
        put: operations["updateTodo"];
        /**
         * Create a todo that is not completed
         * @description The response has the id of the todo.
         */
        post: operations["createTodo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/todos/{id}": {
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
         * One todo
         * @description A 404 means that there is no such todo.
         */
        get: operations["readTodo"];
        put?: never;
        post?: never;
        delete?: never;
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
         *       "id": 1,
         *       "description": "Buy milk",
         *       "isCompleted": 0
         *     }
         */
        Todo: {
            /**
             * Format: int64
             * @description Assigned by the service, increasing.
             * @example 1
             */
            id: number;
            /** @example Buy milk */
            description: string;
            /**
             * @description 0: not completed, 1: completed.
             * @enum {integer}
             */
            isCompleted: 0 | 1;
        };
        SavedTodo: {
            /**
             * @description A sentence for people.
             * @example Not found
             */
            message: string;
            /**
             * Format: int64
             * @description Assigned by the service, increasing.
             * @example 1
             */
            id: number;
        };
        /**
         * @example {
         *       "description": "Buy milk"
         *     }
         */
        CreateTodo: {
            /**
             * @description Not blank; at most 255 characters (Unicode code points).
             * @example Buy milk
             */
            description: string;
        };
        /**
         * @example {
         *       "id": 1,
         *       "description": "Buy milk",
         *       "isCompleted": 1
         *     }
         */
        UpdateTodo: {
            /**
             * Format: int64
             * @description Assigned by the service, increasing.
             * @example 1
             */
            id: number;
            /**
             * @description Not blank; at most 255 characters (Unicode code points).
             * @example Buy milk
             */
            description: string;
            /**
             * @description 0: not completed, 1: completed.
             * @enum {integer}
             */
            isCompleted: 0 | 1;
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
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listTodos: {
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
            /** @description All todos. */
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
                    "application/json": components["schemas"]["Todo"][];
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
    updateTodo: {
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
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTodo"];
            };
        };
        responses: {
            /** @description The todo has been changed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Update created",
                     *       "id": 1
                     *     }
                     */
                    "application/json": components["schemas"]["SavedTodo"];
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
    createTodo: {
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
                "application/json": components["schemas"]["CreateTodo"];
            };
        };
        responses: {
            /** @description The todo has been created. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Todo created",
                     *       "id": 1
                     *     }
                     */
                    "application/json": components["schemas"]["SavedTodo"];
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
    readTodo: {
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
                 * @description Read as parseInt(id, 10) reads it: 12abc is 12.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The todo. */
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
                    "application/json": components["schemas"]["Todo"];
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
}
