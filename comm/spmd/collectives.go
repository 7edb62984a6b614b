package spmd

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
)

// Memory returns the memory of a list as a buffer of bytes, without a copy. E has no pointers.
func Memory[E any](list []E) comm.Buffer {
	return comm.HostAt(unsafe.Pointer(unsafe.SliceData(list)), comm.Uint8, len(list)*itemSize[E]())
}

// AllGather gives every rank the lists of all, in the order of ranks. They have equal lengths. A
// rank receives the lists of the others.
func AllGather[E any](ctx context.Context, c comm.Comm, own []E) ([]E, error) {
	if err := check[E](c, "AllGather"); err != nil {
		return nil, err
	}
	counts := make([]int, c.Size())
	for r := range counts {
		counts[r] = len(own)
	}
	return AllGatherV(ctx, c, own, counts)
}

// Tell gives every rank a value of each, in the order of ranks.
func Tell[E any](s *Session, c comm.Comm, own E) ([]E, error) {
	if s == nil {
		return nil, errNone()
	}
	return AllGather(s.Wait, c, []E{own})
}

// AllGatherV is AllGather for lists of the lengths counts, which all ranks know. Nothing is sent if
// they are all 0.
func AllGatherV[E any](ctx context.Context, c comm.Comm, own []E, counts []int) ([]E, error) {
	if err := check[E](c, "AllGatherV"); err != nil {
		return nil, err
	}
	bytes, n := Bytes(counts, itemSize[E]())
	all := make([]E, n)
	if n == 0 {
		return all, nil
	}
	return all, c.AllGatherV(ctx, Memory(all), bytes, Memory(own))
}

// AllGatherLists is AllGather for lists with lengths that only their ranks know. It returns the
// lengths too, which are exchanged first.
func AllGatherLists[E any](ctx context.Context, c comm.Comm, own []E) (all []E, counts []int, err error) {
	if counts, err = AllGather(ctx, c, []int{len(own)}); err != nil {
		return nil, nil, err
	}
	all, err = AllGatherV(ctx, c, own, counts)
	return all, counts, err
}

// AllToAll sends rank r the next send[r] items of a list, and returns what the ranks send to this
// one, recv[r] items of rank r, in the order of ranks.
func AllToAll[E any](ctx context.Context, c comm.Comm, own []E, send, recv []int) ([]E, error) {
	if err := check[E](c, "AllToAll"); err != nil {
		return nil, err
	}
	in, n := Bytes(recv, itemSize[E]())
	out, _ := Bytes(send, itemSize[E]())
	all := make([]E, n)
	return all, c.AllToAllV(ctx, Memory(all), in, Memory(own), out)
}

// AllToAllLists is AllToAll where a rank does not know how many items the others send. It returns
// the numbers too, which are exchanged first.
func AllToAllLists[E any](ctx context.Context, c comm.Comm, own []E, send []int) (in []E, recv []int, err error) {
	ones := make([]int, len(send))
	for r := range ones {
		ones[r] = 1
	}
	if recv, err = AllToAll(ctx, c, send, ones, ones); err == nil {
		in, err = AllToAll(ctx, c, own, send, recv)
	}
	return in, recv, err
}

// Reduce combines lists of equal length item by item, in place: all ranks get the result. Floats
// are added up in the order of ranks. Nothing is sent for lists without items.
func Reduce[E comm.Element](ctx context.Context, c comm.Comm, own []E, op comm.Op) error {
	if err := check[E](c, "Reduce"); err != nil || len(own) == 0 {
		return err
	}
	return comm.AllReduce(ctx, c, comm.Host(own), comm.Host(own), op, nil)
}

// Broadcast gives all ranks the items that a list has on rank root.
func Broadcast[E any](ctx context.Context, c comm.Comm, list []E, root int) error {
	if err := check[E](c, "Broadcast"); err != nil {
		return err
	}
	return c.Broadcast(ctx, Memory(list), root)
}

// GatherAll is AllGather for all ranks of this process: own has the list of each. The ranks of a
// process share the result.
func GatherAll[E any](s *Session, own [][]E) ([]E, error) {
	return together(s, own, func(c comm.Comm, own []E) ([]E, error) { return AllGather(s.Wait, c, own) })
}

// GatherAllV is AllGatherV for all ranks of this process.
func GatherAllV[E any](s *Session, own [][]E, counts []int) ([]E, error) {
	return together(s, own, func(c comm.Comm, own []E) ([]E, error) { return AllGatherV(s.Wait, c, own, counts) })
}

// GatherAllLists is AllGatherLists for all ranks of this process.
func GatherAllLists[E any](s *Session, own [][]E) (all []E, counts []int, err error) {
	all, err = together(s, own, func(c comm.Comm, own []E) ([]E, error) {
		all, n, err := AllGatherLists(s.Wait, c, own)
		if c == s.Group.Ranks()[0] {
			counts = n
		}
		return all, err
	})
	return all, counts, err
}

// ReduceAll is Reduce for all ranks of this process.
func ReduceAll[E comm.Element](s *Session, own [][]E, op comm.Op) error {
	_, err := together(s, own, func(c comm.Comm, own []E) ([]E, error) { return own, Reduce(s.Wait, c, own, op) })
	return err
}

// together calls f for each rank of this process with its list, and returns what the first gets.
func together[E any](s *Session, own [][]E, f func(c comm.Comm, own []E) ([]E, error)) (all []E, err error) {
	if g := s.group(); len(own) != len(g.Ranks()) {
		return nil, &comm.ArgumentError{Op: "spmd", Arg: "own", Reason: fmt.Sprintf("has %d lists for %d ranks of this process", len(own), len(g.Ranks())),
			Remedy: "give the list of each"}
	}
	err = s.group().Each(func(k int, c comm.Comm) error {
		list, err := f(c, own[k])
		if k == 0 {
			all = list
		}
		return err
	})
	return all, err
}

// Bytes returns counts in bytes of items of a size, and the number of items.
func Bytes(counts []int, size int) (bytes []int, items int) {
	bytes = make([]int, len(counts))
	for r, k := range counts {
		bytes[r] = k * size
		items += k
	}
	return bytes, items
}

func itemSize[E any]() int { return int(unsafe.Sizeof(*new(E))) }

// raw returns the memory of a list.
func raw[E any](list []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*itemSize[E]())
}

// check returns the error of a collective without a rank, or of items that cannot be sent.
func check[E any](c comm.Comm, op string) error {
	if c == nil {
		return &comm.ArgumentError{Op: op, Arg: "c", Reason: "is nil", Remedy: "give a rank of a group, as Each does"}
	}
	if t := reflect.TypeFor[E](); !Plain(t) {
		return &comm.ArgumentError{Op: op, Arg: "the type " + t.String(), Reason: "has pointers, which mean nothing on another rank",
			Remedy: "send numbers, or structs and arrays of numbers"}
	}
	return nil
}

// plainStructs keeps Plain of structs and arrays.
var plainStructs sync.Map

// Plain reports whether values of a type can be sent as they lie in memory: booleans, numbers, and
// arrays and structs of them.
func Plain(t reflect.Type) bool {
	if t == nil {
		return false
	}
	if k := t.Kind(); k != reflect.Struct && k != reflect.Array {
		return reflect.Bool <= k && k <= reflect.Complex128
	}
	if known, ok := plainStructs.Load(t); ok {
		return known.(bool)
	}
	plain := true
	if t.Kind() == reflect.Array {
		plain = Plain(t.Elem())
	} else {
		for i := range t.NumField() {
			plain = plain && Plain(t.Field(i).Type)
		}
	}
	plainStructs.Store(t, plain)
	return plain
}
