// Orders over HTTP, with Express and PostgreSQL. Their IDs come from next-id and stay exact on the whole way: BigInt here, bigint in the
// table, and strings in JSON, since the numbers of whoever reads that may be doubles too.
import express from 'express';
import pg from 'pg';
import { nextId, NoId } from '../node/next_id.mjs';

const database = new pg.Pool(); // says where: PGHOST and its like
await database.query('CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, customer text NOT NULL)');

const app = express();

app.post('/orders', express.json(), async (request, response) => {
    const id = await nextId();
    await database.query('INSERT INTO orders (id, customer) VALUES ($1, $2)', [id, request.body.customer]);
    response.status(201).location(`/orders/${id}`).json({ id: id.toString() });
});

app.use((error, request, response, next) => {
    if (!(error instanceof NoId)) return next(error);
    console.error(error.message);
    response.status(503).set('Retry-After', '1').json({ error: 'no order can be taken now, please try again' });
});

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => console.log(`listening on port ${server.address().port}`));
