package vterm

type parserState uint8

const (
	stGround  parserState = iota
	stEsc                 // after ESC, intermediates collected
	stCSI                 // after ESC [, collecting to the final byte
	stOSC                 // string of an OSC
	stDCSHead             // after ESC P, collecting to the final byte
	stDCS                 // string of a DCS
	stIgnore              // string of SOS, PM, APC, ESC k or one too long, swallowed
)

const (
	maxSeq    = 512     // bytes of one control sequence; longer ones are ignored
	maxString = 1 << 20 // bytes of one OSC; longer ones are swallowed
	maxDCS    = 1 << 16
	maxParams = 64
)

// parser is the state between two writes.
type parser struct {
	state parserState
	seq   []byte // bytes after ESC, CSI or DCS introducer
	str   []byte // payload of a string
	over  bool   // the sequence or string was too long
	bel   bool   // the string ended with BEL
	u8    [4]byte
	u8n   int
}

// payload returns what has come of an OSC; of one that is swallowed, something that means nothing.
func (p *parser) payload() []byte {
	if p.over {
		return []byte("x")
	}
	return p.str
}

// params are the parameters of a control sequence. Absent ones are -1. Bit i of sub tells that parameter
// i followed a colon.
type params struct {
	v   [maxParams]int32
	n   int
	sub uint64
	// private is one of <=>? or 0, inter the intermediate bytes, packed.
	private byte
	inter   uint16
}

// get returns parameter i, or def if it is absent or 0.
func (p *params) get(i, def int) int {
	if i >= p.n || p.v[i] <= 0 {
		return def
	}
	return int(p.v[i])
}

// raw returns parameter i, or 0 if it is absent.
func (p *params) raw(i int) int {
	if i >= p.n || p.v[i] < 0 {
		return 0
	}
	return int(p.v[i])
}

// parse reads private marker, parameters and intermediates; false means that the sequence is malformed
// and to be ignored.
func (p *params) parse(b []byte) bool {
	p.n, p.sub, p.private, p.inter = 0, 0, 0, 0
	if len(b) > 0 && b[0] >= 0x3c {
		p.private = b[0]
		b = b[1:]
	}
	cur := int32(-1)
	any := false
	for i, c := range b {
		switch {
		case c <= '9' && c >= '0':
			any = true
			if cur < 0 {
				cur = 0
			}
			if cur < 1<<24 {
				cur = cur*10 + int32(c-'0')
			}
		case c == ';' || c == ':':
			any = true
			p.push(cur)
			cur = -1
			if c == ':' && p.n < maxParams {
				p.sub |= 1 << p.n
			}
		case c < 0x30:
			for _, c := range b[i:] {
				if c >= 0x30 || p.inter > 0xff {
					return false
				}
				p.inter = p.inter<<8 | uint16(c)
			}
			if any {
				p.push(cur)
			}
			return true
		default:
			return false
		}
	}
	if any {
		p.push(cur)
	}
	return true
}

func (p *params) push(v int32) {
	if p.n < maxParams {
		p.v[p.n] = v
		p.n++
	}
}
