// ioredis: ADDRESS KEY [TOKEN]. One ID, a hundred, five in a pipeline, and what is refused. `stringNumbers`, since a
// number of JavaScript holds no ID above 2^53.
import { createRequire } from 'node:module';

const Redis = createRequire(process.env.NEXT_ID_NODE_MODULES + '/')('ioredis');
const [address, key, token] = process.argv.slice(2);
const [host, port] = address.startsWith('/') ? [] : address.split(':');
const client = new Redis({
    ...(host ? { host, port: Number(port) } : { path: address }),
    password: token,
    stringNumbers: true,
    connectionName: 'ioredis',
});
console.log('one', await client.incr(key));
console.log('hundred', await client.incrby(key, 100));
const five = client.pipeline();
for (let i = 0; i < 5; ++i) five.incr(key);
console.log('five', (await five.exec()).map(([, id]) => id).join(' '));
await client.set(key, 1).catch((error) => console.log('refused', error.message.split(':')[0]));
console.log('name', await client.client('GETNAME'));
await client.quit();
