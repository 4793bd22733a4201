package vterm

// screen is one of the two screens.
type screen struct {
	rows  []*row
	saved savedCursor
	kitty kittyStack
}

// savedCursor is what DECSC keeps.
type savedCursor struct {
	x, y        int
	pen         Style
	charsets    charsets
	origin      bool
	wrapPending bool
	set         bool
}

// kittyStack holds the keyboard flags of one screen; the last is in force.
type kittyStack struct {
	flags []uint8
}

const kittyDepth = 16

func (k *kittyStack) top() uint8 {
	if len(k.flags) == 0 {
		return 0
	}
	return k.flags[len(k.flags)-1]
}

func (k *kittyStack) push(f uint8) {
	if len(k.flags) == 0 {
		k.flags = append(k.flags, 0)
	}
	if len(k.flags) >= kittyDepth {
		k.flags = append(k.flags[:0], k.flags[1:]...)
	}
	k.flags = append(k.flags, f)
}

func (k *kittyStack) pop(n int) {
	k.flags = k.flags[:max(0, len(k.flags)-n)]
}

func (k *kittyStack) set(f uint8) {
	if len(k.flags) == 0 {
		k.flags = append(k.flags, 0)
	}
	k.flags[len(k.flags)-1] = f
}
