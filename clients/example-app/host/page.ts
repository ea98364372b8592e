// The admin's page: it answers the messages of the app in its frame, and of nobody else.
export {};

const app = document.documentElement.dataset["app"] ?? "";
const frame = document.getElementById("app") as HTMLIFrameElement | null;

interface Question {
  id: string;
  type: string;
  request?: unknown;
}

addEventListener("message", async (event: MessageEvent<Question>) => {
  const inner = frame?.contentWindow;
  if (!inner || event.source !== inner || event.origin !== app) return;
  const { id, type, request } = event.data;
  const response = await fetch("/messages", { method: "POST", body: JSON.stringify({ type, request }) });
  const body = (await response.json()) as { error?: string };
  inner.postMessage(response.ok ? { id, result: body } : { id, error: body.error ?? "the admin cannot do that" }, app);
});
