package pack

// diffBlock is the shortest run that diff is guaranteed to find if it is aligned in the old text; runs below diffMin
// are not worth three numbers.
const (
	diffBlock = 32
	diffMin   = 48
)

// diff describes now as new bytes and runs of old: triples of (new bytes, from, count) as in fileEntry, with the new
// bytes themselves in lit. Its time is linear in both lengths.
func diff(old, now []byte) (runs []int64, lit []byte) {
	index := make(map[uint32]int32, len(old)/diffBlock+1)
	for i := 0; i+diffBlock <= len(old); i += diffBlock {
		h := poly(old[i : i+diffBlock])
		if _, taken := index[h]; !taken {
			index[h] = int32(i)
		}
	}
	done, guess := 0, 0 // now[:done] is described; guess is where old would continue
	emit := func(start, from, n int) {
		lit = append(lit, now[done:start]...)
		runs = append(runs, int64(start-done), int64(from), int64(n))
		done, guess = start+n, from+n
	}
	var h uint32
	for i := 0; i+diffBlock <= len(now); {
		if i == done || h == 0 {
			h = poly(now[i : i+diffBlock])
		}
		from, found := at(index, h)
		if found {
			start, f, n := extend(old, now, done, i, from)
			if n >= diffMin {
				emit(start, f, n)
				i = done
				continue
			}
		}
		// A change of a few bytes in place: try where the old text continues.
		if skew := i - done; i%8 == 0 && guess+skew+diffBlock <= len(old) &&
			string(old[guess+skew:guess+skew+diffBlock]) == string(now[i:i+diffBlock]) {
			if start, f, n := extend(old, now, done, i, guess+skew); n >= diffMin {
				emit(start, f, n)
				i = done
				continue
			}
		}
		if i+diffBlock < len(now) {
			h = roll(h, now[i], now[i+diffBlock])
		}
		i++
	}
	if done < len(now) {
		lit = append(lit, now[done:]...)
		runs = append(runs, int64(len(now)-done), 0, 0)
	}
	return runs, lit
}

func at(index map[uint32]int32, h uint32) (int, bool) {
	v, ok := index[h]
	return int(v), ok
}

// extend grows a match at now[i:] and old[from:] in both directions, not before done. Equal hashes of different text
// give a short or empty match.
func extend(old, now []byte, done, i, from int) (start, f, n int) {
	end, g := i, from
	for end < len(now) && g < len(old) && now[end] == old[g] {
		end++
		g++
	}
	if end == i {
		return i, from, 0
	}
	for i > done && from > 0 && now[i-1] == old[from-1] {
		i--
		from--
	}
	return i, from, end - i
}

// The rolling hash is a polynomial over diffBlock bytes.
const base = 0x01000193

var top = func() (p uint32) {
	p = 1
	for range diffBlock - 1 {
		p *= base
	}
	return p
}()

func poly(b []byte) (h uint32) {
	for _, c := range b {
		h = h*base + uint32(c) + 1
	}
	return h
}

func roll(h uint32, out, in byte) uint32 {
	return (h-(uint32(out)+1)*top)*base + uint32(in) + 1
}
