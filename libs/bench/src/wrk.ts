import type { LoadResult } from './load.ts';
import type { RequestKind, Template } from './scenarios.ts';

/** The Lua program with which wrk makes the requests, and prints its result as a line of JSON at the end. */
export function wrkScript(requests: RequestKind[]): string {
  const choices: string[][] = [];
  const kinds = requests.map(({ method, path, body, key, share }) => {
    const orNil = (template?: Template) => (template ? inLua(template, choices) : 'nil');
    return `  { ${share}, function() return http("${method}", ${inLua(path, choices)}, ${orNil(body)}, ${orNil(key)}) end },`;
  });
  const shares = requests.reduce((sum, { share }) => sum + share, 0);
  const texts = choices.map((choice) => `  { ${choice.map(quoted).join(', ')} },`);
  return `
local random = math.random
local host
local texts = {
${texts.join('\n')}
}

local function http(method, path, body, key)
  local head = method .. " " .. path .. " HTTP/1.1\\r\\nHost: " .. host .. "\\r\\n"
  if key then head = head .. "Idempotency-Key: " .. key .. "\\r\\n" end
  if not body then return head .. "\\r\\n" end
  return head .. "Content-Type: application/json\\r\\nContent-Length: " .. #body .. "\\r\\n\\r\\n" .. body
end

local kinds = {
${kinds.join('\n')}
}

local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init()
  host = wrk.host .. ":" .. wrk.port
  math.randomseed(os.time() + number * 7919)
end

function request()
  local left = random() * ${shares}
  for _, kind in ipairs(kinds) do
    left = left - kind[1]
    if left < 0 then return kind[2]() end
  end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '\\n{"requests":%d,"seconds":%.6f,"p50Ms":%.3f,"p99Ms":%.3f,"failed":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed
  ))
end
`;
}

/** An expression for the filled template. @param choices is appended what its places have to choose from */
function inLua(template: Template, choices: string[][]) {
  const parts = template.map((part) => {
    if (typeof part === 'string') return quoted(part);
    if (!('oneOf' in part)) return `random(${part.from}, ${part.to})`;
    choices.push(part.oneOf);
    return `texts[${choices.length}][random(${part.oneOf.length})]`;
  });
  return parts.join(' .. ');
}

/** For plain ASCII, JSON's notation of a string is Lua's too. */
const quoted = (text: string) => JSON.stringify(text);

/** @param output what wrk has printed, with the line of JSON at its end */
export function parseWrk(output: string): LoadResult {
  const line = output.trimEnd().split('\n').at(-1)!;
  const { requests, seconds, ...rest } = JSON.parse(line) as Omit<LoadResult, 'perSecond'> & { seconds: number };
  return { requests, perSecond: requests / seconds, ...rest };
}
