// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/api/tutorials": {
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
         * All tutorials, or those whose title contains a text
         * @description In the order of their ids, without pages.
         */
        get: operations["listTutorials"];
        put?: never;
        /**
         * Create a tutorial
         * @description Without a description it is empty, and not published unless the body says so.
         */
        post: operations["createTutorial"];
        /**
         * Remove all tutorials for good
         * @description Published or not.
         */
        delete: operations["deleteAllTutorials"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tutorials/published": {
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
         * The published tutorials
         * @description In the order of their ids, without pages.
         */
        get: operations["listPublishedTutorials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tutorials/{id}": {
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
         * One tutorial
         * @description A 404 means that there is no such tutorial, or not any more.
         */
        get: operations["readTutorial"];
        /**
         * Change the fields that are sent
         * @description At least one of them must be sent.
         */
        put: operations["updateTutorial"];
        post?: never;
        /**
         * Remove a tutorial for good
         * @description No other tutorial gets its id.
         */
        delete: operations["deleteTutorial"];
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
        /**
         * @example {
         *       "id": 1,
         *       "title": "Fastify",
         *       "description": "From the first route to production",
         *       "published": false
         *     }
         */
        Tutorial: {
            /**
             * Format: int64
             * @description Assigned by the service, increasing.
             * @example 1
             */
            id: number;
            /** @example Fastify */
            title: string;
            /** @example From the first route to production */
            description: string;
            published: boolean;
        };
        /**
         * @example {
         *       "title": "Fastify",
         *       "description": "From the first route to production",
         *       "published": false
         *     }
         */
        CreateTutorial: {
            /**
             * @description Not blank; at most 255 characters (Unicode code points).
             * @example Fastify
             */
            title: string;
            /** @example From the first route to production */
            description?: string;
            published?: boolean;
        };
        /**
         * @example {
         *       "published": true
         *     }
         */
        UpdateTutorial: {
            /**
             * @description Not blank; at most 255 characters (Unicode code points).
             * @example Fastify
             */
            title?: string;
            /** @example From the first route to production */
            description?: string;
            published?: boolean;
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
                "application/json": components["schemas"]["Message"];
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
    listTutorials: {
        parameters: {
            query?: {
                /** @description Matched literally and in any case. An empty text matches all. */
                title?: string;
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
            /** @description The tutorials in the order of their ids. */
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
                    "application/json": components["schemas"]["Tutorial"][];
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
    createTutorial: {
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
                "application/json": components["schemas"]["CreateTutorial"];
            };
        };
        responses: {
            /** @description The tutorial has been created. */
            201: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tutorial"];
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
    deleteAllTutorials: {
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
        requestBody?: never;
        responses: {
            /** @description All tutorials have been removed. The message says how many. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "42 Tutorials were deleted successfully!"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["BadRequest"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPublishedTutorials: {
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
            /** @description The tutorials in the order of their ids. */
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
                    "application/json": components["schemas"]["Tutorial"][];
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
    readTutorial: {
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
            /** @description The tutorial. */
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
                    "application/json": components["schemas"]["Tutorial"];
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
    updateTutorial: {
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
                "application/json": components["schemas"]["UpdateTutorial"];
            };
        };
        responses: {
            /** @description The tutorial has been changed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Tutorial was updated successfully."
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
    deleteTutorial: {
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
            /** @description The tutorial has been removed. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Tutorial was deleted successfully!"
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
