package pack

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"orchestrator/thread"
)

const (
	// openFrames is how many groups can be open at once; each takes about 700 KB.
	openFrames = 24
	// idlePuts is how many puts a frame must have gone to other groups before an open group may be replaced.
	idlePuts = 4
	// bigWindow is the window of a frame whose record is a group by itself.
	bigWindow = 4 << 20
)

// frame is the open end of a group: the encoder that has seen its records. It is used by one put at a time.
type frame struct {
	enc     *zstd.Encoder
	out     bytes.Buffer
	records int
	bytes   int   // plain
	used    int64 // frames.clock when it was last used
}

func newFrame(window int) (*frame, error) {
	enc, err := newEncoder(zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return &frame{enc: enc}, nil
}

// begin makes it the frame of a new group.
func (f *frame) begin() {
	f.out.Reset()
	f.enc.Reset(&f.out)
	f.records, f.bytes = 0, 0
	f.out.WriteByte(version)
}

// add compresses a record to the group's next piece. After an error the frame is unusable.
func (f *frame) add(raw plain) ([]byte, error) {
	for _, piece := range raw {
		if _, err := f.enc.Write(piece); err != nil {
			return nil, fmt.Errorf("compress: %w", err)
		}
	}
	if err := f.enc.Flush(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	piece := slices.Clone(f.out.Bytes())
	f.out.Reset()
	f.records++
	f.bytes += raw.size()
	return piece, nil
}

// full reports whether the group is as large as it may get.
func (f *frame) full() bool { return f.bytes >= groupLimit || f.records >= groupRecords }

// frames are the open groups of one store. A checkpoint whose parent's group is not open starts another.
type frames struct {
	most int   // open at once
	idle int64 // how many puts must have gone to other groups before an open group may be replaced

	mu    sync.Mutex                     // guards all up to big
	ends  map[thread.CheckpointID]*frame // by the last checkpoint
	spare []*frame
	made  int
	clock int64       // counts puts
	big   chan *frame // for records that are alone; nil entries are created at first use
}

func newFrames(most int) *frames {
	fs := &frames{most: most, idle: int64(idlePuts * (most - 1)), ends: map[thread.CheckpointID]*frame{}, big: make(chan *frame, 1)}
	fs.big <- nil
	return fs
}

// take returns the frame that ends at a parent, or one that starts a group; nil if too many are open.
func (fs *frames) take(parent thread.CheckpointID) (*frame, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.clock++
	if f := fs.ends[parent]; f != nil {
		delete(fs.ends, parent)
		return f, nil
	}
	f, err := fs.fresh()
	if f != nil {
		f.begin()
	}
	return f, err
}

// fresh returns an unused frame; nil if all are in use. The caller holds mu.
func (fs *frames) fresh() (*frame, error) {
	if k := len(fs.spare) - 1; k >= 0 {
		f := fs.spare[k]
		fs.spare = fs.spare[:k]
		return f, nil
	}
	if fs.made < fs.most {
		f, err := newFrame(groupLimit)
		if err == nil {
			fs.made++
		}
		return f, err
	}
	var at thread.CheckpointID
	var oldest *frame
	for id, f := range fs.ends {
		if oldest == nil || f.used < oldest.used {
			at, oldest = id, f
		}
	}
	if oldest == nil || fs.clock-oldest.used < fs.idle {
		return nil, nil
	}
	delete(fs.ends, at)
	return oldest, nil
}

// leave returns a frame that now ends at a stored checkpoint, or at "" if its last record was not stored.
func (fs *frames) leave(f *frame, at thread.CheckpointID) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if at == "" || f.full() {
		fs.spare = append(fs.spare, f)
		return
	}
	f.used = fs.clock
	fs.ends[at] = f
}

// end ends all groups that are open and not in use.
func (fs *frames) end() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for id, f := range fs.ends {
		fs.spare = append(fs.spare, f)
		delete(fs.ends, id)
	}
}

// alone packs a record that is a group by itself.
func (fs *frames) alone(raw plain) (piece []byte, err error) {
	f := <-fs.big
	defer func() { fs.big <- f }()
	if f == nil {
		if f, err = newFrame(bigWindow); err != nil {
			return nil, err
		}
	}
	f.begin()
	return f.add(raw)
}
