// Made from the OpenAPI document of the service: npm run generate-client

export interface paths {
    "/api/todos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All todos in the order of their ids */
        get: operations["listTodos"];
        /** Replace description and completion of the todo whose id is in the body */
        put: operations["updateTodo"];
        /** Create a todo that is not completed */
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
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One todo */
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
    schemas: never;
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listTodos: {
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
                        /**
                         * @description Assigned by the service, increasing.
                         * @example 1
                         */
                        id: number;
                        /** @example Buy milk */
                        description: string;
                        /**
                         * @description 0: not completed, 1: completed.
                         * @enum {unknown}
                         */
                        isCompleted: 0 | 1;
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
    updateTodo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
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
                     * @enum {unknown}
                     */
                    isCompleted: 0 | 1;
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
    createTodo: {
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
                     * @description Not blank; at most 255 characters (Unicode code points).
                     * @example Buy milk
                     */
                    description: string;
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
    readTodo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Read as parseInt(id, 10) reads it: 12abc is 12.
                 * @example 1
                 */
                id: string;
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
                        description: string;
                        /**
                         * @description 0: not completed, 1: completed.
                         * @enum {unknown}
                         */
                        isCompleted: 0 | 1;
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
}
