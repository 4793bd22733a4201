package masks

import (
	"io"
	"os"

	"orchestrator/thread/private"
)

// logFile is a log that is open for writing.
type logFile interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// disk is what makes logs durable. Tests have one that loses what was not synced.
type disk struct {
	open func(*private.Folder) (logFile, error) // creates the log of a thread where it is missing
	sync func(*private.Folder) error            // makes the names in a folder durable
}

func realDisk() disk {
	return disk{
		open: func(f *private.Folder) (logFile, error) { return f.File(logName, os.O_RDWR|os.O_CREATE) },
		sync: (*private.Folder).Sync,
	}
}
