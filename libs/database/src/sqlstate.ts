export { errorClass, errorCode, SQLSTATE, SQLSTATE_CLASS } from '@rest-services/errors';
