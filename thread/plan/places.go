package plan

// places is a heap of nodes by their number.
type places []int

// Len implements heap.Interface.
func (p *places) Len() int { return len(*p) }

// Less implements heap.Interface.
func (p *places) Less(i, j int) bool { return (*p)[i] < (*p)[j] }

// Swap implements heap.Interface.
func (p *places) Swap(i, j int) { (*p)[i], (*p)[j] = (*p)[j], (*p)[i] }

// Push implements heap.Interface.
func (p *places) Push(x any) { *p = append(*p, x.(int)) } //nolint:forcetypeassert // only ints are pushed

// Pop implements heap.Interface.
func (p *places) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
