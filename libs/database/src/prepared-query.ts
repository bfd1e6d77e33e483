import type pg from 'pg';
import { serialize } from 'pg-protocol';

/** A value of a statement; `undefined` is null. */
export type Value = string | number | boolean | null | undefined;

/** What there is in the end of a statement. */
export type Result = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>;

interface PreparedStatement {
  text: string;
  name: string;
  values: Value[];
}

/** What a statement returns. */
interface Description {
  names: string[];
  parsers: ((text: string) => unknown)[];
  emptyRow: Record<string, unknown>;
}

/**
 * The descriptions of prepared statements, by connection and name. The server would send one with each answer, and to read it
 * takes longer than to read a row. In a session it does not change: a statement whose columns a migration has changed is refused.
 * Where a pooler changes the session behind a connection, values are read as before such a migration, with which an older release
 * has to get along anyway.
 */
const descriptions = new WeakMap<pg.Connection, Map<string, Description>>();

function descriptionsFor(connection: pg.Connection) {
  const known = descriptions.get(connection) ?? new Map<string, Description>();
  descriptions.set(connection, known);
  return known;
}

const NOTHING: Description = { names: [], parsers: [], emptyRow: {} };

/** What is used of pg's client, which knows how to read a value by the number of its type. */
interface Client {
  connection: pg.Connection;
  getTypeParser: (type: number) => (text: string) => unknown;
}

/** A connection as pg's own queries see it: with the texts of what the server has prepared, by name. */
interface Connection extends pg.Connection {
  parsedStatements: Record<string, string | undefined>;
}

const describe = serialize.describe({ type: 'P' });
const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()]);

/**
 * One execution of a prepared statement, for `client.query`, in the place of pg's own query with a name. It sends everything in
 * one piece, and asks for the description only once. The methods are those that pg's client calls for a statement that is neither
 * empty nor COPY.
 */
export class PreparedQuery {
  readonly text: string;
  readonly name: string;
  readonly callback: (error: Error | null, result?: Result) => void;
  readonly #client: Client;
  readonly #values: Value[];
  readonly #rows: (string | null)[][] = [];
  readonly #descriptions: Map<string, Description>;
  #tag = '';

  constructor(client: Client, { text, name, values }: PreparedStatement, callback: PreparedQuery['callback']) {
    this.text = text;
    this.name = name;
    this.callback = callback;
    this.#client = client;
    this.#descriptions = descriptionsFor(client.connection);
    this.#values = values;
  }

  submit(connection: pg.Connection) {
    const { text, name } = this;
    const isPrepared = (connection as Connection).parsedStatements[name] !== undefined;
    const bind = serialize.bind({
      statement: name,
      values: this.#values,
      valueMapper: (value: Value) => value?.toString(),
    });
    const messages = [
      ...(isPrepared ? [] : [serialize.parse({ name, text })]),
      bind,
      ...(this.#descriptions.has(name) ? [] : [describe]),
      executeAndSync,
    ];
    // Where it is not, the client is about to learn that the connection is lost.
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages));
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }) {
    const names = fields.map(({ name }) => name);
    this.#descriptions.set(this.name, {
      names,
      parsers: fields.map(({ dataTypeID }) => this.#client.getTypeParser(dataTypeID)),
      emptyRow: Object.fromEntries(names.map((name) => [name, null])),
    });
  }

  handleDataRow({ fields }: { fields: (string | null)[] }) {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { text: string }) {
    this.#tag = text;
    // The client keeps it to itself that a statement returns no rows.
    if (!this.#descriptions.has(this.name)) this.#descriptions.set(this.name, NOTHING);
  }

  handleReadyForQuery() {
    let result: Result;
    try {
      result = this.#result();
    } catch (error) {
      // There is a value that has no form here, such as the time 'infinity'.
      this.callback(error as Error);
      return;
    }
    this.callback(null, result);
  }

  handleError(error: Error) {
    this.callback(error);
  }

  #result(): Result {
    const { names, parsers, emptyRow } = this.#descriptions.get(this.name)!;
    const rows = this.#rows.map((texts) => {
      const row = { ...emptyRow };
      for (let column = 0; column < names.length; column += 1) {
        const text = texts[column];
        if (typeof text === 'string') row[names[column]!] = parsers[column]!(text);
      }
      return row;
    });
    // Such as SELECT 2, INSERT 0 1.
    const words = this.#tag.split(' ');
    return { rows, command: words[0]!, rowCount: Number(words.at(-1)) };
  }
}
