/** A field that was rejected. */
export interface FieldError {
  /** A JSON Pointer (RFC 6901) into the body; for a parameter, `/` and its name. */
  pointer: string;
  code: string;
  detail: string;
}

/** A problem (RFC 9457), as the gateway sends it. Some codes add members. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id?: string;
  errors?: FieldError[];
  [member: string]: unknown;
}

/** A rejected request. Each code has a subclass; an unknown code is a `ProblemError` itself. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  /** The rejected fields, if the code is `validation_failed`. */
  readonly errors: FieldError[];
  /** The id to quote when asking for help. */
  readonly requestId: string | undefined;

  constructor(
    readonly problem: Problem,
    readonly response: Response,
  ) {
    const fields = (problem.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`);
    super([problem.detail, ...fields].join("\n"));
    this.name = new.target.name;
    this.status = problem.status;
    this.code = problem.code;
    this.errors = problem.errors ?? [];
    this.requestId = problem.request_id ?? response.headers.get("x-request-id") ?? undefined;
  }
}

/** No response: every attempt failed before one arrived. */
export class ConnectionError extends Error {
  constructor(
    readonly request: Request,
    cause: unknown,
  ) {
    super(`no response from ${request.method} ${request.url}`, { cause });
    this.name = "ConnectionError";
  }
}
