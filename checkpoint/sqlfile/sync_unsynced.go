//go:build unsynced

package sqlfile

// synchronous is off in the variant that must fail the power-cut test.
const synchronous = "OFF"
