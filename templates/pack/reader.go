package pack

import (
	"io/fs"
	"sync"
)

// Reader is a folder of packs that decodes each of them once, however often it is asked for: a connection to a device needs the pack of
// its platform. What stands in the folder must not change. It is handed to what reads packs in the place of the folder, may be used
// from many goroutines at once, and shares what it has decoded between them, so that nobody may change a pack.
type Reader struct {
	fs.FS

	mu   sync.Mutex
	read map[string]Pack // by platform
}

// NewReader is a reader of a folder.
func NewReader(packs fs.FS) *Reader { return &Reader{FS: packs, read: map[string]Pack{}} }

// pack is the pack of a platform. An error is not remembered.
func (r *Reader) pack(platform string) (Pack, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.read[platform]; ok {
		return p, nil
	}
	p, err := decode(r.FS, platform)
	if err == nil {
		r.read[platform] = p
	}
	return p, err
}
