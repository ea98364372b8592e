import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** A verified webhook, without data of the buyer: so nothing has to be erased when a person asks for it. */
export interface ReceivedEvent {
  /** `webhook-id`: the same when the event is sent again. */
  id: string;
  type: string;
  /** The order's number, of an event of an order. */
  order?: string;
  at: string;
}

/** What the app stores of a store on which it is installed. */
export interface StoreRecord {
  accessToken: string;
  refreshToken: string;
  expiresAt: string;
  /** By the gateway's clock. */
  installedAt: string;
  webhook?: { id: string; secret: string };
  /** The last events, the newest first. */
  events: ReceivedEvent[];
}

const EVENTS = 500;

/** The stores of the app, in a file that only its owner can read. It is for one process. */
export class Stores {
  private readonly records: Map<string, StoreRecord>;

  constructor(private readonly file: string) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.records = new Map(existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, "utf8")) as object) : []);
  }

  get(storeId: string): StoreRecord | undefined {
    return this.records.get(storeId);
  }

  /** Stores a change. Without a record before, it must be a whole one. */
  save(storeId: string, change: Partial<StoreRecord>): void {
    this.records.set(storeId, { ...this.records.get(storeId), ...change } as StoreRecord);
    this.write();
  }

  /** Forgets a store that has uninstalled the app. */
  remove(storeId: string): void {
    if (this.records.delete(storeId)) this.write();
  }

  /** Whether this event is new. It is stored before its delivery is answered, so that none is lost. */
  remember(storeId: string, event: ReceivedEvent): boolean {
    const record = this.records.get(storeId);
    if (!record || record.events.some(({ id }) => id === event.id)) return false;
    this.save(storeId, { events: [event, ...record.events].slice(0, EVENTS) });
    return true;
  }

  private write(): void {
    // A crash leaves the old file or the new one.
    const next = `${this.file}.next`;
    writeFileSync(next, JSON.stringify(Object.fromEntries(this.records)), { mode: 0o600 });
    chmodSync(next, 0o600);
    renameSync(next, this.file);
  }
}
