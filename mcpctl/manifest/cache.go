package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread/private"
)

const (
	// maxStored is the size limit of one manifest on disk: larger ones are read from the server each time.
	maxStored = 32 << 20
	// maxCache is the size limit of all of them; the oldest go first.
	maxCache = 128 << 20
)

// Cache keeps manifests in files of this user alone, by launch hash.
type Cache struct {
	folder *private.Folder

	mu    sync.Mutex // guards known and the files; held while a file is read or written
	known map[string]Manifest
}

// OpenCache opens the cache in a folder, which is made if it is missing.
func OpenCache(dir string) (*Cache, error) {
	f, err := private.Make(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache of manifests: %w", err)
	}
	return &Cache{folder: f, known: make(map[string]Manifest)}, nil
}

// Close closes the folder.
func (c *Cache) Close() error { return c.folder.Close() }

// file names the file of a hash, whatever the hash consists of.
func file(hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return hex.EncodeToString(sum[:16]) + ".json"
}

// Get returns the manifest of a launch hash. One that cannot be read is as good as none.
func (c *Cache) Get(hash string) (Manifest, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.known[hash]; ok {
		return m, true
	}
	b, err := c.folder.Read(file(hash), maxStored)
	if err != nil {
		return Manifest{}, false
	}
	var m Manifest
	if json.Unmarshal(b, &m) != nil || m.Hash != hash {
		return Manifest{}, false
	}
	// Whatever wrote the file: what is listed obeys the rules of today.
	m.Tools = recheck(m.Tools)
	c.known[hash] = m
	return m, true
}

// Put stores a manifest. One that is too large for the disk is kept in memory only.
func (c *Cache) Put(m Manifest) error {
	b, err := encode(m)
	if err != nil {
		return fmt.Errorf("store a manifest: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[m.Hash] = m
	name := file(m.Hash)
	if len(b) > maxStored {
		if err := c.folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old manifest: %w", err)
		}
		return nil
	}
	if err := c.evict(name, maxCache-int64(len(b))); err != nil {
		return err
	}
	if err := c.folder.Write(name, b); err != nil {
		return fmt.Errorf("store a manifest: %w", err)
	}
	return nil
}

// evict removes the oldest files but the one of name until the rest has at most limit bytes.
func (c *Cache) evict(name string, limit int64) error {
	list, err := c.folder.List()
	if err != nil {
		return fmt.Errorf("list the manifests: %w", err)
	}
	type stored struct {
		name string
		size int64
		at   time.Time
	}
	var all []stored
	var total int64
	for _, e := range list {
		info, err := e.Info()
		if err != nil || e.Name() == name || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		all = append(all, stored{e.Name(), info.Size(), info.ModTime()})
		total += info.Size()
	}
	slices.SortFunc(all, func(a, b stored) int { return a.at.Compare(b.at) })
	for _, s := range all {
		if total <= limit {
			break
		}
		if err := c.folder.Remove(s.name); err != nil {
			return fmt.Errorf("remove an old manifest: %w", err)
		}
		total -= s.size
	}
	return nil
}
