export { CommerceGateway, type Options, type Schemas } from "./client.js";
export * from "./generated/errors.js";
export type { components, paths } from "./generated/schema.js";
export { ConnectionError, type FieldError, type Problem, ProblemError } from "./problem.js";
export { type VerifyOptions, verifyWebhook, type WebhookEvent, type WebhookEvents, WebhookVerificationError } from "./webhooks.js";
