/**
 * Keeps the progress of lists in this browser (IndexedDB), so that a reload or a
 * crash loses nothing that was paid for. The file itself is not kept: to go on,
 * its owner chooses it again.
 */

/** @typedef {import("./run.js").Done} Done */

/**
 * A list under way or finished. Its id names the file by name, size and beginning.
 * A pass reads the file, or checks the failed rows of the pass before it.
 * @typedef {object} Saved
 * @property {string} id
 * @property {string} name
 * @property {string} run a random string, which makes requests the same after a crash
 * @property {number} pass from 1
 * @property {number} parts how many the pass has
 * @property {boolean} finished
 * @property {Done} done
 * @property {import("./table.js").Choice} choice
 * @property {import("./survey.js").Survey} survey
 * @property {string} newline
 * @property {boolean} mark
 * @property {boolean} offline
 * @property {boolean} protect
 * @property {number} changed when, as Date.now()
 */

/**
 * @typedef {object} Store
 * @property {boolean} lasting whether it outlives the page
 * @property {() => Promise<Saved[]>} list
 * @property {(saved: Saved, part?: Blob) => Promise<void>} save adds part as the last one of the pass
 * @property {(id: string, pass: number) => Promise<Blob[]>} parts
 * @property {(id: string, pass: number) => Promise<void>} drop forgets the parts of a pass
 * @property {(id: string) => Promise<void>} forget
 */

/** Results are forgotten this long after their last change. */
const KEPT_MS = 30 * 24 * 3600 * 1000;

/** Opens the browser's store; one in memory if there is none. @returns {Promise<Store>} */
export async function openStore() {
  try {
    const store = new IndexedStore(await openDatabase());
    for (const { id, changed } of await store.list()) {
      if (Date.now() - changed > KEPT_MS) await store.forget(id);
    }
    return store;
  } catch {
    return new MemoryStore(); // such as a private window
  }
}

/** @implements {Store} */
export class MemoryStore {
  lasting = false;
  /** @type {Map<string, Saved>} */
  #lists = new Map();
  /** @type {Map<string, Blob>} */
  #parts = new Map();

  async list() {
    return [...this.#lists.values()];
  }

  /**
   * @param {Saved} saved
   * @param {Blob} [part]
   */
  async save(saved, part) {
    if (part) this.#parts.set(`${saved.id} ${saved.pass} ${saved.parts - 1}`, part);
    this.#lists.set(saved.id, structuredClone(saved));
  }

  /**
   * @param {string} id
   * @param {number} pass
   */
  async parts(id, pass) {
    return [...this.#parts]
      .filter(([key]) => key.startsWith(`${id} ${pass} `))
      .map(([, part]) => part);
  }

  /**
   * @param {string} id
   * @param {number} pass
   */
  async drop(id, pass) {
    for (const key of this.#parts.keys())
      if (key.startsWith(`${id} ${pass} `)) this.#parts.delete(key);
  }

  /** @param {string} id */
  async forget(id) {
    this.#lists.delete(id);
    for (const key of this.#parts.keys()) if (key.startsWith(`${id} `)) this.#parts.delete(key);
  }
}

/** @implements {Store} */
class IndexedStore {
  lasting = true;
  #database;

  /** @param {IDBDatabase} database */
  constructor(database) {
    this.#database = database;
  }

  /** @returns {Promise<Saved[]>} */
  list() {
    return answerOf(this.#database.transaction("lists").objectStore("lists").getAll());
  }

  /**
   * @param {Saved} saved
   * @param {Blob} [part]
   */
  save(saved, part) {
    const change = this.#database.transaction(["lists", "parts"], "readwrite");
    if (part) change.objectStore("parts").put(part, [saved.id, saved.pass, saved.parts - 1]);
    change.objectStore("lists").put(saved);
    return endOf(change);
  }

  /**
   * @param {string} id
   * @param {number} pass
   * @returns {Promise<Blob[]>}
   */
  parts(id, pass) {
    return answerOf(
      this.#database
        .transaction("parts")
        .objectStore("parts")
        .getAll(IDBKeyRange.bound([id, pass], [id, pass, []])),
    );
  }

  /**
   * @param {string} id
   * @param {number} pass
   */
  drop(id, pass) {
    const change = this.#database.transaction("parts", "readwrite");
    change.objectStore("parts").delete(IDBKeyRange.bound([id, pass], [id, pass, []]));
    return endOf(change);
  }

  /** @param {string} id */
  forget(id) {
    const change = this.#database.transaction(["lists", "parts"], "readwrite");
    change.objectStore("lists").delete(id);
    change.objectStore("parts").delete(IDBKeyRange.bound([id], [id, []]));
    return endOf(change);
  }
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  const request = indexedDB.open("addrspec-lists", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("lists", { keyPath: "id" });
    request.result.createObjectStore("parts");
  };
  return answerOf(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function answerOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @param {IDBTransaction} transaction
 * @returns {Promise<void>}
 */
function endOf(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}
