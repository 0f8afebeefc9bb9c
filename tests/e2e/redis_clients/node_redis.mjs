// node-redis, in RESP3: ADDRESS KEY [TOKEN]. One ID, a hundred, five in a pipeline, and what is refused. Numbers are
// mapped to strings, since a number of JavaScript holds no ID above 2^53.
import { createRequire } from 'node:module';

const { createClient, RESP_TYPES } = createRequire(process.env.NEXT_ID_NODE_MODULES + '/')('redis');
const [address, key, token] = process.argv.slice(2);
const [host, port] = address.startsWith('/') ? [] : address.split(':');
const client = createClient({
    socket: host ? { host, port: Number(port) } : { path: address },
    password: token,
    RESP: 3,
    name: 'node-redis',
    commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } },
});
client.on('error', (error) => console.log('error', error.message));
await client.connect();
console.log('one', await client.incr(key));
console.log('hundred', await client.incrBy(key, 100));
// What is asked for in one turn goes out in one write.
console.log('five', (await Promise.all(Array.from({ length: 5 }, () => client.incr(key)))).join(' '));
await client.set(key, 1).catch((error) => console.log('refused', error.message.split(':')[0]));
console.log('name', await client.clientGetName());
await client.close();
