// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/": {
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
         * Says ok
         * @description Needs no database.
         */
        get: operations["checkService"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/programming-languages": {
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
         * A page of 10 programming languages in the order of their ids
         * @description The Link header leads to the other pages. A page past the end is empty.
         */
        get: operations["listProgrammingLanguages"];
        put?: never;
        /**
         * Create a programming language
         * @description A rank that is not sent becomes null.
         */
        post: operations["createProgrammingLanguage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/programming-languages/{id}": {
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
        get?: never;
        /**
         * Replace the five fields of a programming language
         * @description A rank that is not sent becomes null. The message tells whether there was such a record.
         */
        put: operations["updateProgrammingLanguage"];
        post?: never;
        /**
         * Remove a programming language for good
         * @description The message tells whether there was such a record.
         */
        delete: operations["deleteProgrammingLanguage"];
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
         *       "name": "TypeScript",
         *       "released_year": 2012,
         *       "githut_rank": 4,
         *       "pypl_rank": 8,
         *       "tiobe_rank": 36,
         *       "created_at": "2026-11-20T18:30:00.000Z",
         *       "updated_at": "2026-11-20T18:30:00.000Z"
         *     }
         */
        ProgrammingLanguage: {
            /**
             * Format: int64
             * @description Assigned by the service, increasing.
             * @example 1
             */
            id: number;
            /** @example TypeScript */
            name: string;
            /** @example 2012 */
            released_year: number;
            /** @example 1 */
            githut_rank: number | null;
            /** @example 1 */
            pypl_rank: number | null;
            /** @example 1 */
            tiobe_rank: number | null;
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
        ProgrammingLanguagePage: {
            data: components["schemas"]["ProgrammingLanguage"][];
            meta: {
                page: number;
            };
        };
        /**
         * @example {
         *       "name": "TypeScript",
         *       "released_year": 2012,
         *       "githut_rank": 4,
         *       "pypl_rank": 8,
         *       "tiobe_rank": 36
         *     }
         */
        ProgrammingLanguageFields: {
            /**
             * @description Unique; not blank; at most 255 characters (Unicode code points).
             * @example TypeScript
             */
            name: string;
            /**
             * @description Digits in a string will do too.
             * @example 2012
             */
            released_year: number;
            /**
             * @description Missing or empty: null. Digits in a string will do too.
             * @example 1
             */
            githut_rank?: number | null;
            /**
             * @description Missing or empty: null. Digits in a string will do too.
             * @example 1
             */
            pypl_rank?: number | null;
            /**
             * @description Missing or empty: null. Digits in a string will do too.
             * @example 1
             */
            tiobe_rank?: number | null;
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
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    checkService: {
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
            /** @description The service runs. */
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
                    /**
                     * @example {
                     *       "message": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
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
    listProgrammingLanguages: {
        parameters: {
            query?: {
                /** @description Number of the page, counted from 1. */
                page?: number;
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
            /** @description The programming languages of the page. */
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
                    "application/json": components["schemas"]["ProgrammingLanguagePage"];
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
    createProgrammingLanguage: {
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
                "application/json": components["schemas"]["ProgrammingLanguageFields"];
                "application/x-www-form-urlencoded": components["schemas"]["ProgrammingLanguageFields"];
            };
        };
        responses: {
            /** @description The programming language has been created. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Programming language created successfully"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["BadRequest"];
            408: components["responses"]["RequestTimeout"];
            /** @description Another programming language has the name. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
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
    updateProgrammingLanguage: {
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
                "application/json": components["schemas"]["ProgrammingLanguageFields"];
                "application/x-www-form-urlencoded": components["schemas"]["ProgrammingLanguageFields"];
            };
        };
        responses: {
            /** @description The programming language has been changed, or there is none with the id. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Programming language updated successfully"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["BadRequest"];
            408: components["responses"]["RequestTimeout"];
            /** @description Another programming language has the name. */
            409: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            431: components["responses"]["HeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteProgrammingLanguage: {
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
            /** @description The programming language has been removed, or there is none with the id. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Programming language deleted successfully"
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
}
