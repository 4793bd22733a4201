package masks

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

const (
	logName     = "log"
	outputsName = "outputs"
	outputEnd   = ".txt"
	newBegin    = ".new-" // of a copy that is written again
)

// copies are the files of the store: the logs, and the copies of contents that agents may read.
type copies struct {
	folder  *private.Folder
	mending sync.Mutex // held while a copy is replaced
}

// path returns where the copy of a content is.
func (c *copies) path(home thread.ID, token thread.Token) string {
	return c.folder.Path(string(home), outputsName, outputName(token))
}

// outputName returns the name of the copy of a content.
func outputName(token thread.Token) string { return token.Digits() + outputEnd }

// tokenOf returns the token of a copy's name, "" if it is another file.
func tokenOf(name string) thread.Token {
	digits, ok := strings.CutSuffix(name, outputEnd)
	t, whole, err := thread.ParseToken(digits)
	if !ok || err != nil || !whole || t.Digits() != digits {
		return ""
	}
	return t
}

// outputs opens the folder with the copies of a thread.
func (c *copies) outputs(home thread.ID) (*private.Folder, error) {
	folder, err := c.folder.Open(string(home))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return folder.Open(outputsName)
}

// makeOutputs is outputs, but creates the folder in that of the thread.
func (c *copies) makeOutputs(home thread.ID) (*private.Folder, error) {
	folder, err := c.folder.Open(string(home))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return folder.Make(outputsName)
}

// threads returns the threads that have a folder.
func (c *copies) threads() ([]thread.ID, error) {
	list, err := c.folder.List()
	if err != nil {
		return nil, fmt.Errorf("list the masks: %w", err)
	}
	var all []thread.ID
	for _, e := range list {
		if id := thread.ID(e.Name()); e.IsDir() && id.Check() == nil {
			all = append(all, id)
		}
	}
	return all, nil
}

// file is a copy in a thread's outputs.
type file struct {
	token thread.Token
	size  int64
	at    time.Time // of its last change
}

// files returns the copies of a thread.
func (c *copies) files(home thread.ID) ([]file, error) {
	outputs, err := c.outputs(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer outputs.Close()
	list, err := outputs.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it has just been removed
		return nil, err
	}
	var all []file
	for _, e := range list {
		token := tokenOf(e.Name())
		if token == "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise it has just been removed
			all = append(all, file{token, info.Size(), info.ModTime()})
		}
	}
	return all, nil
}

// tokens returns the tokens of all copies.
func (c *copies) tokens() ([]thread.Token, error) {
	ids, err := c.threads()
	if err != nil {
		return nil, err
	}
	var all []thread.Token
	for _, id := range ids {
		files, err := c.files(id)
		if err != nil && !errors.Is(err, private.ErrNotOurs) { // it is not one of ours then
			return nil, err
		}
		for _, f := range files {
			all = append(all, f.token)
		}
	}
	return all, nil
}

// readCopy returns a copy if it is the content of a mask.
func readCopy(outputs *private.Folder, m Mask) ([]byte, error) {
	file, err := outputs.File(outputName(m.Token), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var content []byte
	if info.Size() == m.Bytes {
		content = make([]byte, m.Bytes)
		_, err = io.ReadFull(file, content)
	}
	if err != nil || info.Size() != m.Bytes || sha256.Sum256(content) != m.Sum {
		return nil, fmt.Errorf("%s was changed: %w", m.File, thread.ErrDamaged)
	}
	if info.Mode().Perm() != 0o400 {
		_ = file.Chmod(0o400) // it can be read all the same
	}
	return content, nil
}

// hasCopy reports whether there is a file where the copy of a content is.
func hasCopy(outputs *private.Folder, token thread.Token) (bool, error) {
	file, err := outputs.File(outputName(token), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}

// writeCopy creates a copy; the error is fs.ErrExist if there is a file. It is not synced: the log has the content.
func writeCopy(outputs *private.Folder, name string, content []byte) error {
	file, err := outputs.File(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	failpoint.Hit("masks.copy.created")
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o400)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", outputs.Path(name), err), outputs.Remove(name))
	}
	failpoint.Hit("masks.copy.written")
	return nil
}

// mend writes the copy of a content again, unless it is as it should be. What is in its place is replaced but never
// changed: it may be a link to something else.
func (c *copies) mend(outputs *private.Folder, m Mask, content []byte) error {
	c.mending.Lock()
	defer c.mending.Unlock()
	name := outputName(m.Token)
	_, err := readCopy(outputs, m)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return writeCopy(outputs, name, content)
	case errors.Is(err, private.ErrNotOurs):
		if err := outputs.Remove(name); err != nil {
			return err
		}
	}
	temp := newBegin + name
	err = writeCopy(outputs, temp, content)
	if errors.Is(err, fs.ErrExist) { // a crash left it
		if err = outputs.Remove(temp); err == nil {
			err = writeCopy(outputs, temp, content)
		}
	}
	if err == nil {
		failpoint.Hit("masks.mend.written")
		err = outputs.Replace(temp, name)
	}
	return err
}

// openLog opens a thread's log; the error is fs.ErrNotExist if it has none.
func (c *copies) openLog(id thread.ID) (*os.File, error) {
	folder, err := c.folder.Open(string(id))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return folder.File(logName, os.O_RDONLY)
}

// scanLog calls each for the records of a thread's log. A thread without a log has none.
func (c *copies) scanLog(id thread.ID, each func(record), with *sealing) (scanned, error) {
	log, err := c.openLog(id)
	if errors.Is(err, fs.ErrNotExist) {
		return scanned{}, nil
	}
	if err != nil {
		return scanned{}, err
	}
	defer log.Close()
	return scanSealed(log, each, with)
}

// explain adds what to do to the errors of a disk.
func explain(err error, path string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err), "free some space")
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err), "make "+path+" writable for this user")
	}
	return err
}
