package plan

import "strings"

// mostCompared is how many lines of each text are compared, apart from those that are the same at both ends.
const mostCompared = 2000

// Diff returns the lines of two texts: with a space before those of both, - before those of the first only, + before those of
// the second only. Of same lines only some around differences are left, the others are one line "...". Texts of which too
// much differs are shown one after the other.
func Diff(a, b string) []string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	from := 0
	for from < len(x) && from < len(y) && x[from] == y[from] {
		from++
	}
	end := 0
	for end < len(x)-from && end < len(y)-from && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	out := marked(" ", x[:from])
	out = append(out, between(x[from:len(x)-end], y[from:len(y)-end])...)
	return around(append(out, marked(" ", x[len(x)-end:])...))
}

func marked(mark string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = mark + l
	}
	return out
}

// between compares lines by the longest sequence that both have.
func between(x, y []string) (out []string) {
	if len(x) > mostCompared || len(y) > mostCompared {
		return append(marked("-", x), marked("+", y)...)
	}
	common := make([][]int16, len(x)+1) // of x[i:] and y[j:]
	for i := range common {
		common[i] = make([]int16, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			out = append(out, " "+x[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, "-"+x[i])
			i++
		default:
			out = append(out, "+"+y[j])
			j++
		}
	}
	return append(append(out, marked("-", x[i:])...), marked("+", y[j:])...)
}

// shownAround is how many same lines stand before and after a difference.
const shownAround = 2

// around leaves same lines out that are far from every difference.
func around(lines []string) (out []string) {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l[0] == ' ' {
			continue
		}
		for k := max(0, i-shownAround); k <= min(len(lines)-1, i+shownAround); k++ {
			near[k] = true
		}
	}
	for i, l := range lines {
		switch {
		case near[i]:
			out = append(out, l)
		case i == 0 || near[i-1]:
			out = append(out, "...")
		}
	}
	if len(out) == 1 && out[0] == "..." {
		return nil
	}
	return out
}
