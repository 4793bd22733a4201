//go:build unsynced

package sqlite

// synchronous is off in the twin that the power-cut test must see fail.
const synchronous = "OFF"
