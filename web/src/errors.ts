import type { Status } from './values.js';

/** What a call throws: the status of the C library, its text, and the place in the file where there is one. */
export class PoiseError extends Error {
    override readonly name = 'PoiseError';
    readonly status: Status;
    /** 1-based line of the file; 0: none. */
    readonly line: number;
    /** 1-based column; 0: none. */
    readonly column: number;

    constructor(status: Status, text: string, line = 0, column = 0) {
        super(text);
        this.status = status;
        this.line = line;
        this.column = column;
    }
}
