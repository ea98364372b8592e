// The reference: an operation is loaded when it is opened, found by its words, and sent by its form.

document.addEventListener("toggle", async (event) => {
  const operation = event.target;
  const source = operation.dataset?.operation;
  if (!source || !operation.open || operation.dataset.loaded) return;
  operation.dataset.loaded = "yes";
  const answer = await fetch(source).catch(() => null);
  if (answer?.ok) operation.querySelector(".body").innerHTML = await answer.text();
  else delete operation.dataset.loaded;
}, true);

const search = document.querySelector("[data-search]");

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const family of document.querySelectorAll(".family")) {
    let found = 0;
    const operations = family.querySelectorAll(".operation");
    for (const operation of operations) {
      const matches = words.every((word) => operation.dataset.text.includes(word));
      operation.hidden = !matches;
      if (matches) found += 1;
    }
    const all = operations.length;
    family.querySelector(".count").textContent = words.length === 0 ? all : `${found} of ${all}`;
    family.hidden = words.length > 0 && found === 0;
    family.open = words.length > 0 && found > 0;
    count += found;
  }
  const status = document.querySelector("[data-search-status]");
  status.textContent = words.length === 0 ? "" : `${count} found`;
}

if (search) {
  search.addEventListener("input", find);
  search.form.addEventListener("submit", (event) => event.preventDefault());
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// The parts of a multipart form.
function partsOf(place) {
  const parts = new FormData();
  for (const field of place.querySelectorAll("[data-part]")) {
    if (field.type === "file") [...field.files].forEach((file) => parts.append(field.name, file));
    else if (field.value) parts.append(field.name, field.value);
  }
  for (const line of place.querySelector("[data-parts]")?.value.split("\n") ?? []) {
    const at = line.indexOf("=");
    if (at > 0) parts.append(line.slice(0, at).trim(), line.slice(at + 1));
  }
  return parts;
}

document.addEventListener("change", (event) => {
  const kinds = event.target.closest("[data-kinds]");
  if (!kinds) return;
  for (const place of kinds.form.querySelectorAll("[data-kind]")) place.hidden = place.dataset.kind !== kinds.value;
});

// What a form sends: URL, headers and body, and the same as a call of curl.
async function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of form.querySelectorAll("[data-in]")) {
    const value = field.value.trim();
    if (!value) continue;
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (field.dataset.in === "query") query.append(field.name, value);
    else headers[field.name] = field.name === "Idempotency-Key" && value === "new" ? crypto.randomUUID() : value;
  }
  const target = query.size ? `${path}?${query}` : path;
  const place = form.querySelector("[data-kind]:not([hidden])");
  const body = place?.querySelector("[data-body]");
  let content;
  if (place?.dataset.kind === "multipart/form-data") content = partsOf(place);
  else if (body?.type === "file") content = body.files[0];
  else if (body?.value.trim()) content = body.value;
  // Of a multipart form the browser writes the type, for it has the boundary.
  if (content !== undefined && body) headers["Content-Type"] = body.dataset.body;
  const lines = [`curl -sS -X ${form.dataset.method} ${quoted(location.origin + target)}`];
  const who = form.querySelector("[data-as]")?.value;
  const pasted = form.querySelector("[data-bearer]").value.trim();
  const token = pasted || (who ? await tokenOf(who) : "");
  if (token) lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (content instanceof FormData) {
    for (const [name, value] of content) lines.push(`-F ${quoted(value instanceof File ? `${name}=@${value.name}` : `${name}=${value}`)}`);
  } else if (typeof content === "string") lines.push(`--data ${quoted(content)}`);
  else if (content) lines.push(`--data-binary @${quoted(content.name)}`);
  if (token) headers.Authorization = `Bearer ${token}`;
  return { target, headers, content, curl: lines.join(" \\\n  ") };
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function block(label, text) {
  const button = element("button", { className: "copy", type: "button", textContent: "Copy", ariaLabel: `Copy: ${label}` });
  button.dataset.copy = text;
  const shown = element("pre", { tabIndex: 0, ariaLabel: label }, element("code", { textContent: text }));
  return element("div", { className: "code" }, button, shown);
}

async function send(form) {
  const output = form.querySelector("output");
  output.replaceChildren(element("p", { className: "faint", textContent: "Sending …" }));
  const { target, headers, content, curl } = await requestOf(form);
  const begun = performance.now();
  const answer = await fetch(target, { method: form.dataset.method, headers, body: content });
  const received = await answer.text();
  const took = Math.round(performance.now() - begun);
  let text = received;
  try {
    text = JSON.stringify(JSON.parse(received), null, 2);
  } catch { /* It is no JSON. */ }
  const tone = answer.ok ? "good" : answer.status < 500 ? "open" : "bad";
  const id = answer.headers.get("x-request-id");
  const line = element("p", {}, element("span", { className: `chip ${tone}`, textContent: answer.status }), ` in ${took} ms `);
  if (id) line.append(element("a", { href: `/_local/activity/${id}`, textContent: "Open in activity" }));
  const names = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  output.replaceChildren(
    line,
    ...(text ? [block("The body of the answer", text)] : []),
    element("details", {}, element("summary", { textContent: "Headers" }), block("The headers of the answer", names)),
    element("details", { open: true }, element("summary", { textContent: "As a call of curl" }), block("The request as a call of curl", curl)),
  );
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-try]");
  if (!form) return;
  event.preventDefault();
  try {
    await send(form);
  } catch (error) {
    form.querySelector("output").replaceChildren(element("p", { className: "chip bad", textContent: error.message }));
  }
});
