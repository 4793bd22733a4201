package project

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	logFolder = "log"
	logName   = "server.log"
	crashName = "crash"
	mostCrash = 64 << 10 // of what a crash printed is kept
)

// LogFile is where the server logs.
func (p Project) LogFile() string { return filepath.Join(p.StateDir(), logFolder, logName) }

// OpenLog opens the server's log for appending.
func (p Project) OpenLog() (*os.File, error) { return p.openLog(logName) }

// OpenCrash opens the file that a crash of the server is printed to, and returns the beginning of what the last one
// printed, which is removed from it. Only the holder of the server's lock may call it.
func (p Project) OpenCrash() (file *os.File, last []byte, err error) {
	f, err := p.openLog(crashName)
	if err != nil {
		return nil, nil, err
	}
	last, err = io.ReadAll(io.LimitReader(f, mostCrash))
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read what a crash printed: %w", err), f.Close())
	}
	return f, last, nil
}

// openLog opens a file of the log's folder for appending.
func (p Project) openLog(name string) (*os.File, error) {
	state, err := p.Folder()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	folder, err := state.Make(logFolder)
	if err == nil {
		defer folder.Close()
		var f *os.File
		if f, err = folder.File(name, os.O_CREATE|os.O_APPEND|os.O_RDWR); err == nil {
			return f, nil
		}
	}
	return nil, hint(fmt.Errorf("open the server's log in the state folder: %w", err))
}
