package rulebook

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// object is a JSON object whose fields are values already: hundreds of conditions look at the same few.
type object struct {
	traits.Mapper
	fields map[string]ref.Val
	heft   uint64
}

// list is a JSON array.
type list struct {
	traits.Lister
	heft uint64
}

// Find gives a field.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		v, found := o.fields[string(name)]
		return v, found
	}
	return o.Mapper.Find(key)
}

// Contains reports whether there is such a field.
func (o *object) Contains(key ref.Val) ref.Val {
	if name, ok := key.(types.String); ok {
		_, found := o.fields[string(name)]
		return types.Bool(found)
	}
	return o.Mapper.Contains(key)
}

// Get gives a field, or the error that there is none.
func (o *object) Get(key ref.Val) ref.Val {
	if v, found := o.Find(key); found {
		return v
	}
	return o.Mapper.Get(key)
}

// Fold keeps loops over it quick.
func (o *object) Fold(f traits.Folder) { types.ToFoldableMap(o.Mapper).Fold(f) }

// Fold keeps loops over it quick.
func (l *list) Fold(f traits.Folder) { types.ToFoldableList(l.Lister).Fold(f) }

// weight is how much there is to look at in arguments: values, and bytes of their texts.
type weight struct{ values, bytes int }

func (w *weight) heft() uint64 { return uint64(w.values) + uint64(w.bytes)/10 }

// valueOf makes a value of decoded JSON, and weighs it.
func (w *weight) valueOf(v any) ref.Val {
	w.values++
	switch v := v.(type) {
	case nil:
		return types.NullValue
	case bool:
		return types.Bool(v)
	case float64:
		return types.Double(v)
	case string:
		w.bytes += len(v)
		return types.String(v)
	case []any:
		before := w.heft()
		items := make([]ref.Val, len(v))
		for i := range v {
			items[i] = w.valueOf(v[i])
		}
		return &list{Lister: types.NewRefValList(types.DefaultTypeAdapter, items).(traits.Lister), heft: w.heft() - before}
	case map[string]any:
		before := w.heft()
		o := &object{Mapper: types.NewStringInterfaceMap(types.DefaultTypeAdapter, v), fields: make(map[string]ref.Val, len(v))}
		for name, field := range v {
			w.bytes += len(name)
			o.fields[name] = w.valueOf(field)
		}
		o.heft = w.heft() - before
		return o
	}
	return types.NewErr("a value of no known kind")
}
