-- The demo company's operational database. Load it into an empty database "fabric_demo".
-- Dates are relative to the moment of loading, so that "last week" always has rows.
BEGIN;

DROP TABLE IF EXISTS public.support_tickets, public.orders, public.products, public.customers;
DROP TYPE IF EXISTS public.ticket_status, public.ticket_priority, public.order_status;

CREATE TYPE public.ticket_status AS ENUM ('open', 'pending', 'closed');
CREATE TYPE public.ticket_priority AS ENUM ('low', 'normal', 'high', 'urgent');
CREATE TYPE public.order_status AS ENUM ('placed', 'shipped', 'delivered', 'cancelled');

CREATE TABLE public.customers (
    id integer PRIMARY KEY,
    name text NOT NULL UNIQUE,
    revenue numeric(12, 2) NOT NULL CHECK (revenue >= 0),
    segment text NOT NULL CHECK (segment IN ('pharma', 'healthcare', 'dairy', 'seafood', 'meat', 'food', 'flowers', 'logistics')),
    town text NOT NULL,
    contact_email text NOT NULL,
    plan text NOT NULL CHECK (plan IN ('small', 'medium', 'large', 'per sensor')),
    sites integer NOT NULL CHECK (sites > 0),
    customer_since date NOT NULL
);
COMMENT ON TABLE public.customers IS 'Companies that buy from Tarnwick';
COMMENT ON COLUMN public.customers.revenue IS 'Revenue with this customer over the last twelve months, in euro';
COMMENT ON COLUMN public.customers.plan IS 'Rookery plan; "per sensor" was sold from March to May 2026 only';

CREATE TABLE public.products (
    id integer PRIMARY KEY,
    code text NOT NULL UNIQUE,
    name text NOT NULL,
    unit_price numeric(10, 2) NOT NULL CHECK (unit_price > 0)
);
COMMENT ON TABLE public.products IS 'What can be ordered';
COMMENT ON COLUMN public.products.unit_price IS 'List price in euro, without VAT';

CREATE TABLE public.orders (
    id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES public.customers (id),
    product_id integer NOT NULL REFERENCES public.products (id),
    quantity integer NOT NULL CHECK (quantity > 0),
    total numeric(12, 2) NOT NULL CHECK (total >= 0),
    status public.order_status NOT NULL,
    ordered_on date NOT NULL,
    shipped_on date,
    CHECK (shipped_on IS NULL OR shipped_on >= ordered_on)
);
COMMENT ON TABLE public.orders IS 'Hardware and certificates ordered, one product a row';
COMMENT ON COLUMN public.orders.total IS 'Quantity times list price less discount, in euro';

CREATE TABLE public.support_tickets (
    id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES public.customers (id),
    subject text NOT NULL,
    priority public.ticket_priority NOT NULL,
    status public.ticket_status NOT NULL,
    assignee_email text NOT NULL,
    created_at timestamptz NOT NULL,
    first_answer_at timestamptz,
    closed_at timestamptz,
    CHECK (closed_at IS NULL OR closed_at >= created_at)
);
COMMENT ON TABLE public.support_tickets IS 'Problems and questions that customers reported';
COMMENT ON COLUMN public.support_tickets.created_at IS 'When the customer opened the ticket';
COMMENT ON COLUMN public.support_tickets.first_answer_at IS 'When a person answered first; null while nobody has';

CREATE INDEX support_tickets_customer ON public.support_tickets (customer_id, created_at DESC);
CREATE INDEX orders_customer ON public.orders (customer_id, ordered_on DESC);
