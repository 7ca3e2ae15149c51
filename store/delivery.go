package store

import "github.com/holdshort/holdshort"

// DeliveryReader reads the outbox.
type DeliveryReader interface {
	Delivery(holdshort.DeliveryID) (holdshort.Delivery, error)
	// PendingDeliveries gives those of a session that are neither sent, dead nor dropped, in their order. It leaves out what cannot be read.
	PendingDeliveries(holdshort.SessionID) ([]holdshort.Delivery, error)
	// Deliveries gives those whose key begins with a prefix, the last key first.
	Deliveries(DeliveryQuery) (Page[holdshort.Delivery], error)
}

// DeliveryQuery selects deliveries by the beginning of their keys.
type DeliveryQuery struct {
	Prefix string
	Cursor string
	Limit  int
}

// DeliveryWriter writes it. Keys are unique.
type DeliveryWriter interface {
	PutDelivery(holdshort.Delivery) error
}
