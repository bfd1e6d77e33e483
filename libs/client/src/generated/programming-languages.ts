// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says ok */
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
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of 10 programming languages in the order of their ids */
        get: operations["listProgrammingLanguages"];
        put?: never;
        /** Create a programming language */
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
            header?: never;
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
    schemas: never;
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    checkService: {
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
                        message: string;
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
    listProgrammingLanguages: {
        parameters: {
            query?: {
                /** @description Number of the page, counted from 1. */
                page?: number;
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
                        data: {
                            /**
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
                        }[];
                        meta: {
                            page: number;
                        };
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
    createProgrammingLanguage: {
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
                "application/x-www-form-urlencoded": {
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
            /** @description Another programming language has the name. */
            409: {
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
    updateProgrammingLanguage: {
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
                "application/x-www-form-urlencoded": {
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
            /** @description Another programming language has the name. */
            409: {
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
    deleteProgrammingLanguage: {
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
