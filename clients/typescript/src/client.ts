import createClient, { type Client, type MaybeOptionalInit } from "openapi-fetch";
import { ERRORS } from "./generated/errors.js";
import type { components, paths } from "./generated/schema.js";
import { type Problem, ProblemError } from "./problem.js";
import { type RetryOptions, send } from "./retry.js";

/** The schemas of requests and responses, by name: `Schemas["Order"]`. */
export type Schemas = components["schemas"];

export interface Options extends Partial<RetryOptions> {
  /** The origin of the gateway, for example `https://api.example.com`. */
  baseUrl: string;
  /** A session, an app's token or a customer's token; or what returns a current one. */
  token?: string | (() => string | Promise<string>);
  /** The store, where neither the path nor the token names it. */
  storeId?: string;
  /** The language in which amounts are formatted. */
  locale?: string;
}

type Method = "get" | "put" | "post" | "patch" | "delete";
/** The paths that have this method. */
type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];
type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;
type Success = 200 | 201 | 202 | 204;
/** The body of the successful responses of an operation. */
type Body<O> = O extends { responses: infer R }
  ? { [S in keyof R & Success]: R[S] extends { content: infer C } ? C[keyof C] : undefined }[keyof R & Success]
  : never;
/** Without the headers that the client sets: they may be given, and need not be. */
type Lenient<O> = O extends { parameters: infer Q }
  ? Omit<O, "parameters"> & {
      parameters: Omit<Q, "header"> & { header?: Q extends { header?: infer H } ? Partial<NonNullable<H>> : never };
    }
  : never;
type Init<P extends keyof paths, M extends Method> = MaybeOptionalInit<Record<M, Lenient<Operation<P, M>>>, M>;
/** Optional, unless the operation has required parameters or a required body. */
type Arguments<P extends keyof paths, M extends Method> =
  Record<never, never> extends Init<P, M> ? [init?: Init<P, M>] : [init: Init<P, M>];

/** What a page lists, and the paths that list pages. */
type ItemOf<P extends keyof paths> = Body<Operation<P, "get">> extends { data: (infer T)[]; page: unknown } ? T : never;
type PagedPaths = { [P in PathsOf<"get">]: [ItemOf<P>] extends [never] ? never : P }[PathsOf<"get">];

interface Page {
  data: unknown[];
  page: { next_cursor: string | null };
}

/** A client of the gateway. Each method takes the path of `docs/openapi.json`, and throws a `ProblemError`. */
export class CommerceGateway {
  /** The `openapi-fetch` client, which returns problems instead of throwing them. */
  readonly raw: Client<paths>;

  constructor(options: Options) {
    const retry: RetryOptions = {
      retries: options.retries ?? 3,
      timeout: options.timeout ?? 30_000,
      delay: options.delay ?? 500,
      maxDelay: options.maxDelay ?? 30_000,
      fetch: options.fetch ?? ((request) => fetch(request)),
    };
    this.raw = createClient<paths>({ baseUrl: options.baseUrl, fetch: (request) => send(request, retry) });
    this.raw.use({
      async onRequest({ request }) {
        const { headers } = request;
        const token = typeof options.token === "function" ? await options.token() : options.token;
        const set = (name: string, value: string | undefined) => {
          if (value !== undefined && !headers.has(name)) headers.set(name, value);
        };
        set("Authorization", token && `Bearer ${token}`);
        set("X-Service-Store-Id", options.storeId);
        set("X-Service-Locale", options.locale);
        // So that a repetition takes effect once.
        if (request.method !== "GET") set("Idempotency-Key", crypto.randomUUID());
        return request;
      },
    });
  }

  get<P extends PathsOf<"get">>(path: P, ...init: Arguments<P, "get">): Promise<Body<Operation<P, "get">>> {
    return this.call("get", path, init[0]) as Promise<Body<Operation<P, "get">>>;
  }

  post<P extends PathsOf<"post">>(path: P, ...init: Arguments<P, "post">): Promise<Body<Operation<P, "post">>> {
    return this.call("post", path, init[0]) as Promise<Body<Operation<P, "post">>>;
  }

  put<P extends PathsOf<"put">>(path: P, ...init: Arguments<P, "put">): Promise<Body<Operation<P, "put">>> {
    return this.call("put", path, init[0]) as Promise<Body<Operation<P, "put">>>;
  }

  patch<P extends PathsOf<"patch">>(path: P, ...init: Arguments<P, "patch">): Promise<Body<Operation<P, "patch">>> {
    return this.call("patch", path, init[0]) as Promise<Body<Operation<P, "patch">>>;
  }

  delete<P extends PathsOf<"delete">>(path: P, ...init: Arguments<P, "delete">): Promise<Body<Operation<P, "delete">>> {
    return this.call("delete", path, init[0]) as Promise<Body<Operation<P, "delete">>>;
  }

  /** Iterates over all that a list has, page by page. */
  async *list<P extends PagedPaths>(path: P, ...init: Arguments<P, "get">): AsyncGenerator<ItemOf<P>, void, undefined> {
    const given = (init[0] ?? {}) as { params?: { query?: Record<string, unknown> } };
    let cursor: string | null | undefined;
    do {
      const query = { ...given.params?.query, ...(cursor ? { cursor } : {}) };
      const page = (await this.call("get", path, { ...given, params: { ...given.params, query } })) as Page;
      yield* page.data as ItemOf<P>[];
      cursor = page.page.next_cursor;
    } while (cursor);
  }

  private async call(method: Method, path: string, init: unknown): Promise<unknown> {
    const untyped = this.raw as unknown as Client<Record<string, Record<Method, Record<never, never>>>>;
    const result = await untyped.request(method, path, init as never);
    if (result.error !== undefined || !result.response.ok) throw problemError(result.error, result.response);
    return result.data;
  }
}

/** The error of a response: of the class of its code. */
function problemError(body: unknown, response: Response): ProblemError {
  const known = typeof body === "object" && body !== null ? (body as Partial<Problem>) : {};
  // The OAuth endpoints answer as RFC 6749 §5.2 requires.
  const oauth = known as { error?: string; error_description?: string };
  const code = known.code ?? oauth.error ?? "unknown";
  const problem: Problem = {
    type: "about:blank",
    title: response.statusText,
    status: response.status,
    detail: oauth.error_description ?? oauth.error ?? `${response.status} ${response.statusText}`,
    ...known,
    code,
  };
  const Class = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS] : ProblemError;
  return new Class(problem, response);
}
