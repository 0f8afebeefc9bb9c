#!/usr/bin/env node
// IDs in Node.js, with its own http module.
//
// A number of JavaScript is a double: above 2^53 JSON.parse() turns an ID into another one, without a word. So IDs are asked for as
// strings (format=string) and kept as BigInt.
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const socketPath = process.env.NEXT_ID_SOCKET ?? '/run/next-id/next-id.sock';

// There is no sidecar, or it has no ID to give out now.
export class NoId extends Error {}

async function get(path) {
    const request = http.get({ socketPath, path, signal: AbortSignal.timeout(5000) });
    const [response] = await once(request, 'response');
    return { status: response.statusCode, answer: await json(response) };
}

export async function nextIds(count) {
    const { status, answer } = await get(`/next-id?format=string&count=${count}`).catch((error) => {
        throw new NoId(`no ID from ${socketPath}: ${error.message}`, { cause: error });
    });
    if (status !== 200) throw new NoId(`no ID from ${socketPath}: ${status} ${answer.msg}: ${answer.error ?? ''}`);
    return answer.data.ids.map(BigInt);
}

export async function nextId() {
    return (await nextIds(1))[0];
}

if (import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
    try {
        console.log(`id ${await nextId()}`);
        console.log(`ids ${(await nextIds(3)).join(' ')}`);
    } catch (error) {
        console.error(error.message);
        process.exitCode = 1;
    }
}
