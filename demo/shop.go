package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// Order is what somebody bought.
type Order struct {
	ID       string  `json:"id"`
	Customer string  `json:"customer"`
	Mail     string  `json:"mail"`
	Item     string  `json:"item"`
	Total    float64 `json:"total"`
	Status   string  `json:"status"`
}

// Effect is something that was done to the world, under the operation id that it was done with.
type Effect struct {
	Operation string          `json:"operation_id"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	At        time.Time       `json:"at"`
}

// Shop is the world outside: it knows nothing of approvals, and does what it is asked once for each operation id, as a payment provider does.
type Shop struct {
	mu   sync.Mutex
	file string
	shop state
}

type state struct {
	Orders  []Order  `json:"orders"`
	Effects []Effect `json:"effects"`
}

// orders that the desk begins with.
var orders = []Order{
	{"77", "Ana Ruiz", "ana.ruiz@example.org", "espresso machine", 320, "delivered"},
	{"78", "Ben Ortega", "ben.ortega@example.org", "desk lamp", 48, "delivered"},
	{"79", "Cora Lind", "cora.lind@example.org", "folding bike", 890, "in transit"},
	{"80", "Dag Holm", "dag.holm@example.org", "two rain jackets", 178, "packed"},
	{"81", "Ben Ortega", "b.ortega@example.net", "headphones", 129, "delivered"},
	{"82", "Elif Kaya", "elif.kaya@example.org", "teapot", 34, "packed"},
}

// OpenShop opens the shop in a folder, or makes it.
func OpenShop(dir string) (*Shop, error) {
	s := &Shop{file: filepath.Join(dir, "shop.json"), shop: state{Orders: slices.Clone(orders)}}
	raw, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, s.save()
	case err != nil:
		return nil, fmt.Errorf("open the shop: %w", err)
	}
	if err := json.Unmarshal(raw, &s.shop); err != nil {
		return nil, &holdshort.Error{Code: holdshort.Corrupt, Op: "open the shop", Message: s.file + " is not what the demo wrote", Hint: "remove it, or use another folder with --data", Err: err}
	}
	return s, nil
}

// save writes the shop whole or not at all: the demo's machine may die at any moment.
func (s *Shop) save() error {
	raw, err := json.MarshalIndent(s.shop, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.file), "shop-*")
	if err != nil {
		return fmt.Errorf("save the shop: %w", err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), s.file)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("save the shop: %w", err)
	}
	return nil
}

// Order gives an order by its number.
func (s *Shop) Order(id string) (Order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.shop.Orders, func(o Order) bool { return o.ID == id })
	if i < 0 {
		return Order{}, false
	}
	return s.shop.Orders[i], true
}

// Orders are all of them.
func (s *Shop) Orders() []Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shop.Orders)
}

// Effects are all that was done so far.
func (s *Shop) Effects() []Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shop.Effects)
}

// do takes effect, once for each operation, and changes the order's status if there is one to change.
func (s *Shop) do(operation, tool string, args json.RawMessage, order, status string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.shop.Effects, func(e Effect) bool { return e.Operation == operation }) {
		return nil
	}
	before := s.shop
	s.shop.Effects = append(slices.Clone(before.Effects), Effect{operation, tool, args, time.Now().UTC()})
	s.shop.Orders = slices.Clone(before.Orders)
	for i := range s.shop.Orders {
		if s.shop.Orders[i].ID == order && status != "" {
			s.shop.Orders[i].Status = status
		}
	}
	if err := s.save(); err != nil {
		s.shop = before
		return err
	}
	return nil
}
