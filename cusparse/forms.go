package cusparse

import (
	"slices"
	"weak"
)

// The forms of a matrix that products and apps make and keep: layouts, orders, starts of tiles,
// what was found out about operands. They are made again if they are missing, so their memory is
// given back when an allocation does not fit.

// form is a kept form of a store.
type form struct {
	dropper
	used uint64 // the operation that used it last
}

// keptForm is an entry of the device's list of forms. It does not keep the store alive.
type keptForm struct {
	store weak.Pointer[store]
	key   string
}

// formOf returns a form that is kept with a store, and protects it until the end of the operation.
func formOf[T dropper](f *frame, s *store, key string) (x T, ok bool) {
	k := s.forms[key]
	if k == nil {
		return x, false
	}
	k.used = f.serial
	x, ok = k.dropper.(T)
	return x, ok
}

// keepForm keeps a form with a store.
func (f *frame) keepForm(s *store, key string, x dropper) {
	if s.forms == nil {
		s.forms = map[string]*form{}
	}
	s.forms[key] = &form{x, f.serial}
	if n := len(f.d.forms); n >= 64 && n&(n-1) == 0 {
		f.d.tidyForms()
	}
	f.d.forms = append(f.d.forms, keptForm{weak.Make(s), key})
}

// kept returns the form of that key that is kept with the structure of s, made by create at first.
func kept[T dropper](f *frame, s *store, key string, create func() T) T {
	s = s.origin()
	x, ok := formOf[T](f, s, key)
	if !ok {
		x = create()
		f.keepForm(s, key, x)
	}
	return x
}

// tidyForms takes the forms off the list that are no more.
func (d *Device) tidyForms() {
	d.forms = slices.DeleteFunc(d.forms, func(k keptForm) bool {
		s := k.store.Value()
		return s == nil || s.forms[k.key] == nil
	})
}

// dropForm drops a form that is kept with a store.
func (s *store) dropForm(key string) {
	if k := s.forms[key]; k != nil {
		delete(s.forms, key)
		k.drop()
	}
}

// evict drops the form that was not used for longest, and reports whether there was
// one. Forms that the operation under way uses stay.
func (f *frame) evict() bool {
	oldest, least := -1, f.serial
	f.d.tidyForms()
	for i, k := range f.d.forms {
		if used := k.store.Value().forms[k.key].used; used < least {
			oldest, least = i, used
		}
	}
	if oldest < 0 {
		return false
	}
	k := f.d.forms[oldest]
	k.store.Value().dropForm(k.key)
	f.d.forms = slices.Delete(f.d.forms, oldest, oldest+1)
	return true
}
