//go:build !unsynced

package sqlfile

// synchronous is SQLite's setting of that name: every commit is synced before it returns.
const synchronous = "FULL"
